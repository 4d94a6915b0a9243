import { SvcForm } from './element.ts';

const isSupported = 'customElements' in window && 'attachShadow' in Element.prototype && 'fetch' in window;
// Forms of this site work without the element.
if (isSupported && !customElements.get('svc-form')) customElements.define('svc-form', SvcForm);
else if (!isSupported)
  console.error(
    '[svc form] This browser does not support custom elements, shadow DOM or fetch, so forms of other sites cannot load.',
  );
