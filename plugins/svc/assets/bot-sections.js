// Shows one section of the editor at a time. Without JavaScript all sections are shown, and the tabs link to them.

// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

/** @param {HTMLFormElement | null} form The editor. On other pages the tabs are plain links. */
export function startSections(form) {
  const sections = [...(form?.querySelectorAll('[data-section]') ?? [])];
  const links = [...document.querySelectorAll('[data-section-link]')];
  if (sections.length === 0) return;
  form.classList.add('tabbed');
  for (const section of sections) {
    const link = links.find(({ dataset }) => dataset.sectionLink === section.dataset.section);
    if (link && section.dataset.errors) link.dataset.errors = section.dataset.errors;
    // The URL fragment now names a tab. The browser must not scroll to it, because notices are at the top.
    section.id = `section-${section.dataset.section}`;
  }

  const show = (id) => {
    for (const section of sections) section.classList.toggle('current', section.dataset.section === id);
    for (const link of links) {
      if (link.dataset.sectionLink === id) {
        link.setAttribute('aria-current', 'true');
        link.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      } else link.removeAttribute('aria-current');
    }
    // Browsers keep the fragment over the redirect after saving, so the same section is shown again.
    form.action = `${form.action.split('#')[0]}#${id}`;
  };

  const sectionAt = (hash) => {
    const id = decodeURIComponent(hash.slice(1));
    return (
      sections.find(({ dataset }) => dataset.section === id) ??
      (id === '' ? null : document.getElementById(id)?.closest('[data-section]')) ??
      null
    );
  };

  for (const link of links) {
    link.addEventListener('click', (event) => {
      event.preventDefault();
      const id = link.dataset.sectionLink;
      show(id);
      history.replaceState(null, '', `#${id}`);
    });
  }
  // A link to an invalid field opens its section first, because a hidden field cannot get the focus.
  for (const link of form.querySelectorAll('[data-error-link]')) {
    link.addEventListener('click', (event) => {
      const section = sectionAt(link.hash);
      if (!section) return;
      event.preventDefault();
      show(section.dataset.section);
      document.getElementById(link.hash.slice(1))?.focus();
    });
  }
  window.addEventListener('hashchange', () => {
    const section = sectionAt(location.hash);
    if (section) show(section.dataset.section);
  });
  const invalid = sections.find(({ dataset }) => dataset.errors);
  const first = invalid ?? sectionAt(location.hash);
  show((first ?? sections[0]).dataset.section);
  if (first) window.scrollTo(0, 0);
}
