import { addVisualEditor } from './visual-editor.ts';

const field = document.getElementById('post-content');
if (field instanceof HTMLTextAreaElement) addVisualEditor(field);
