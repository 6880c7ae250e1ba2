// What views are made of, in one place.

export { all, api, guest, is, tell } from './api.js';
export { ask, confirm, open, showOnce } from './dialogs.js';
export { fill, h, icon, put } from './dom.js';
export * from './fields.js';
export { ago, day, device, moment, roleName } from './format.js';
export { form } from './form.js';
export { listing } from './listing.js';
export { addButton, badge, busy, button, card, copy, empty, facts, heading, linkButton, loading, notice, rowButton, statusBadge, table, toast } from './ui.js';
