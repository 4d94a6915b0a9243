/** Query parameters of the demo page. */
export interface DemoPageOptions {
  /** Id of the chatbot; empty: the shop is shown without one. */
  readonly bot: string;
  /** Styles of a page that overrides everything. */
  readonly isHostile: boolean;
  /** `strict`: a policy with just what the widget needs; `closed`: one that keeps it away; empty: none. */
  readonly policy: 'strict' | 'closed' | '';
}

export function readDemoPageOptions(query: URLSearchParams): DemoPageOptions {
  const bot = query.get('bot') ?? '';
  const policy = query.get('csp');
  return {
    bot: /^[1-9]\d{0,9}$/.test(bot) ? bot : '',
    isHostile: query.get('css') === 'hostile',
    policy: policy === 'strict' || policy === 'closed' ? policy : '',
  };
}

/** The policy of a variant. @param site origin that the widget comes from and calls. */
export function contentSecurityPolicy({ policy }: DemoPageOptions, site: string): string | null {
  if (policy === '') return null;
  const widget = policy === 'strict' ? ` ${site}` : '';
  return (
    `default-src 'none'; script-src 'self'${widget}; connect-src 'self'${widget}; style-src 'self'; ` +
    `img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`
  );
}

const goods = [
  ['Harbour mug', 'Stoneware, holds 300 ml and most mornings.', '14.00'],
  ['Sailcloth bag', 'Sewn from what once crossed the Baltic.', '39.00'],
  ['Tide calendar', 'Twelve months of coming and going.', '18.50'],
  ['Wool blanket', 'For decks, dunes and late trains.', '72.00'],
] as const;

/** The shop has no script but the chatbot's tag. */
export function demoPageHtml({ bot, isHostile }: DemoPageOptions, script: string): string {
  const cards = goods.map(
    ([name, text, price]) =>
      `<li class="good"><div class="picture" aria-hidden="true"></div><h2>${name}</h2><p>${text}</p><p ` +
      `class="price">€ ${price}</p><button type="button">Add to basket</button></li>`,
  );
  const tag = bot === '' ? '' : `<script src="${escaped(script)}" data-bot="${bot}" async></script>\n`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Quay &amp; Co.</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/shop.css">
${isHostile ? '<link rel="stylesheet" href="/hostile.css">\n' : ''}</head>
<body>
<header><p class="name">Quay &amp; Co.</p><nav aria-label="Shop"><a href="#goods">Goods</a> <a href="#delivery">Delivery</a></nav></header>
<main>
<h1>Things for people by the water</h1>
<p class="lead">A demo shop, served by your own machine, to show how a chatbot looks on another site.</p>
<ul class="goods" id="goods">${cards.join('')}</ul>
<section id="delivery"><h2>Delivery</h2><p>Two to four days. Returns within 30 days, unused and dry.</p></section>
</main>
<footer><p>Nothing here can be bought.</p></footer>
${tag}</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

export const demoStyles = `:root { font-family: Georgia, serif; color: #1d2b33; background: #f7f4ee; }
body { margin: 0; line-height: 1.5; }
header, main, footer { max-width: 62rem; margin: 0 auto; padding: 1rem 1.25rem; }
header { display: flex; justify-content: space-between; align-items: baseline; border-bottom: 1px solid #d8d2c4; }
.name { font-size: 1.4rem; font-weight: bold; margin: 0; }
nav a { color: inherit; margin-left: 1rem; }
.lead { font-size: 1.15rem; color: #4a5a63; }
.goods { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 1.25rem; padding: 0; list-style: none; }
.good { background: #fff; border: 1px solid #e4dfd3; border-radius: 6px; padding: 1rem; }
.good h2 { font-size: 1.1rem; margin: 0.75rem 0 0.25rem; }
.good p { margin: 0 0 0.5rem; }
.picture { height: 7rem; border-radius: 4px; background: linear-gradient(160deg, #9fc3cf, #2c6277); }
.good:nth-child(even) .picture { background: linear-gradient(160deg, #e8c9a0, #a5582f); }
.price { font-weight: bold; }
button { font: inherit; padding: 0.4rem 0.9rem; border: 0; border-radius: 4px; background: #1d4e60; color: #fff; }
footer { color: #4a5a63; border-top: 1px solid #d8d2c4; margin-top: 2rem; }
`;

/** What page styles do to elements of others, on purpose and at their worst. */
export const hostileStyles = `* { all: initial !important;
  font: 40px/3 cursive !important;
  color: magenta !important;
  background: yellow !important;
  letter-spacing: 1em !important;
  text-transform: uppercase !important;
  box-sizing: content-box !important;
  }
*, *::before, *::after { animation: none !important; transition: none !important; }
div, section, ul, li, p, form { display: inline !important; float: right !important; margin: 30px !important; position: static !important; }
button, input, textarea, select { display: none !important; visibility: hidden !important; width: 1px !important; }
a { pointer-events: none !important; }
svc-chatbot { display: none !important;
  opacity: 0 !important;
  position: static !important;
  transform: scale(0.1) !important;
  width: 0 !important;
  height: 0 !important;
  overflow: hidden !important;
  z-index: -1 !important;
  }
svc-chatbot * { display: none !important; }
html { font-size: 40px !important; direction: rtl !important; overflow: hidden !important; }
body { zoom: 2; filter: blur(1px) !important; transform: rotate(3deg) !important; }
`;
