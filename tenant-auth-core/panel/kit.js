// What views are made of.

export * from './api.js';
export * from './dialogs.js';
export * from './dom.js';
export * from './fields.js';
export * from './form.js';
export * from './format.js';
export * from './listing.js';
export * from './ui.js';
