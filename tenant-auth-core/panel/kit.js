// What views are made of.

export * from './api.js';
export * from './chart.js';
export * from './curl.js';
export * from './dialogs.js';
export * from './dom.js';
export * from './fields.js';
export * from './form.js';
export * from './focus.js';
export * from './format.js';
export * from './listing.js';
export * from './live.js';
export * from './place.js';
export * from './secrets.js';
export * from './text.js';
export * from './toast.js';
export * from './ui.js';
export * from './unsaved.js';
