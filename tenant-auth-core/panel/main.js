// Which page this is, by the last part of its address; the panel is where there is none.

import { panel } from './app.js';
import { hosted, PAGES } from './hosted.js';

const name = location.pathname.split('/').at(-1);
const root = document.getElementById('page');
if (Object.hasOwn(PAGES, name)) hosted(root, name, ...PAGES[name]);
else panel(root);
