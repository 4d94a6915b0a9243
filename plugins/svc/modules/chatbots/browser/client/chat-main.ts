import { createChatWindow } from './chat-window.ts';
import { diagnose } from './diagnose.ts';
import type { SvcChatbot } from './element.ts';

// The script of the button, which loads this one, has defined the element.
(customElements.get('svc-chatbot') as typeof SvcChatbot | undefined)?.provideWindow({
  create: createChatWindow,
  diagnose,
});
