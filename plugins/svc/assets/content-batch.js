// Polls the progress of a batch. Without this script, the page has a "Refresh" link.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

const section = document.querySelector('[data-batch]');
if (section?.dataset.running) follow(section);

function follow(section) {
  const form = section.querySelector('[data-poll]');
  const bar = section.querySelector('progress');
  const label = section.querySelector('.progress .muted');
  let pause = 1000;
  section.querySelector('[data-refresh]')?.setAttribute('hidden', '');

  async function look() {
    try {
      const response = await fetch(form.action, {
        method: 'POST',
        body: new URLSearchParams(new FormData(form)),
        headers: { Accept: 'application/json' },
      });
      const { data } = await response.json();
      if (!response.ok || !data?.items) throw new Error('no progress');
      show(data);
      pause = 1000;
      if (!data.isRunning) return end(data);
    } catch {
      pause = Math.min(pause * 2, 15_000);
    }
    window.setTimeout(look, pause);
  }

  function show({ finished, succeeded, summary: text, spent, items, failed }) {
    bar.value = finished;
    section.querySelector('[data-succeeded]').value = succeeded;
    label.textContent = text;
    section.querySelector('[data-spent]').textContent = spent;
    section.querySelector('[data-retry-all]').hidden = failed === 0;
    for (const item of items) showItem(item);
  }

  function showItem({ id, title, badge, message, cost, postHref, topic }) {
    const row = document.querySelector(`[data-item="${id}"]`);
    if (!row) return;
    const [what, state, price, post] = row.cells;
    if (title && !what.querySelector('[data-title]'))
      what.append(element('span', { className: 'content-reason', textContent: title }, 'title'));
    state.replaceChildren(
      element('span', { className: `badge badge-${badge.kind}`, textContent: badge.text }),
      ...(message ? [element('span', { className: 'content-reason', textContent: message })] : []),
    );
    price.textContent = cost;
    if (postHref && !post.querySelector('a')) {
      const link = element('a', { href: postHref, textContent: __('Edit post') });
      link.setAttribute('aria-label', __('Edit post: {topic}', { topic }));
      post.append(link);
    }
  }

  function element(name, properties, mark) {
    const made = Object.assign(document.createElement(name), properties);
    if (mark) made.dataset[mark] = '';
    return made;
  }

  /** The buttons to retry failed texts come with a reload. */
  function end({ summary: text, failed }) {
    section.querySelector('[data-announce]').textContent = __('Finished: {text}.', { text });
    if (failed > 0) location.reload();
    else section.querySelector('form[action*="action=cancel"]')?.remove();
  }

  void look();
}
