import { SvcForm } from './element.ts';

const able = 'customElements' in window && 'attachShadow' in Element.prototype && 'fetch' in window;
// Without it a form of the site itself still works as every form does.
if (able && !customElements.get('svc-form')) customElements.define('svc-form', SvcForm);
else if (!able)
  console.error(
    '[svc form] This browser is too old for forms of other sites: it knows no custom elements, shadow DOM or fetch.',
  );
