import { complain } from './diagnose.ts';
import { SvcChatbot } from './element.ts';
import { runScriptTag } from './script-tag.ts';

const able =
  'customElements' in window && 'attachShadow' in Element.prototype && 'fetch' in window && 'ResizeObserver' in window;
if (!able)
  complain(
    'This browser is too old for the chatbot: it knows no custom elements, shadow DOM, fetch or ResizeObserver.',
  );
else {
  runScriptTag();
  if (!customElements.get('svc-chatbot')) customElements.define('svc-chatbot', SvcChatbot);
}
