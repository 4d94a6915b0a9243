import { addAutosave } from './autosave.ts';
import { addFeaturedImage } from './featured-image.ts';
import { addVisualEditor } from './visual-editor.ts';

const field = document.getElementById('post-content');
if (field instanceof HTMLTextAreaElement) addVisualEditor(field);
const image = document.getElementById('post-image');
if (image instanceof HTMLSelectElement) addFeaturedImage(image);
const form = document.getElementById('post-form');
if (form instanceof HTMLFormElement) addAutosave(form);
