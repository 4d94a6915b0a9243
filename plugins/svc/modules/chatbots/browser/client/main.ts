import { reportProblem } from './report.ts';
import { SvcChatbot } from './element.ts';
import { runScriptTag } from './script-tag.ts';

const isSupported =
  'customElements' in window && 'attachShadow' in Element.prototype && 'fetch' in window && 'ResizeObserver' in window;
if (!isSupported)
  reportProblem(
    'This browser is too old for the chatbot. It needs custom elements, shadow DOM, fetch and ResizeObserver.',
  );
else {
  runScriptTag();
  if (!customElements.get('svc-chatbot')) customElements.define('svc-chatbot', SvcChatbot);
}
