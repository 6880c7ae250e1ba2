// The organization itself. Admins change its name, the application's address and the browser origins; everybody sees the facts
// and may leave.

import { api } from '../api.js';
import { confirm } from '../dialogs.js';
import { h } from '../dom.js';
import { moment } from '../format.js';
import { forget } from '../store.js';
import { badge, button, card, facts, field, form, heading, toast } from '../ui.js';

/** The view. */
export function settings(context) {
  const { org, isAdmin } = context;
  return [
    heading('Settings', isAdmin ? `How ${org.name} presents itself, and which pages may call the API.` : `The facts about ${org.name}.`),
    isAdmin ? details(context) : card('Organization', null, facts([['Name', org.name], ['Application', org.appUrl ? h('a', { href: org.appUrl, rel: 'noreferrer' }, org.appUrl) : '—']])),
    card('Facts', null, facts([
      ['Slug', h('code', {}, org.slug)],
      ['Id', h('code', {}, org.id)],
      ['Plan', badge(org.plan)],
      ['Status', badge(org.status === 'active' ? 'Active' : 'Suspended', org.status === 'active' ? 'good' : 'bad')],
      ['Created', moment(org.createdAt)],
    ])),
    leaving(context),
  ];
}

function details({ org, refresh }) {
  const name = field({ label: 'Name', name: 'name', value: org.name, maxlength: 100 });
  const app = field({ label: 'Application URL', name: 'appUrl', type: 'url', value: org.appUrl ?? '', optional: true, placeholder: 'https://app.example.com', hint: 'Invitation mails link to it, and its pages may call the API.' });
  const origins = field({
    label: 'Further allowed origins', name: 'allowedOrigins', type: 'textarea', rows: 3, value: org.allowedOrigins.join('\n'), optional: true, class: 'code',
    placeholder: 'https://admin.example.com', hint: 'Other origins whose pages may call the API from a browser, one a line.',
  });
  const lines = () => origins.value.split(/\s+/).filter(Boolean);
  return card('Organization', null, form({
    fields: [name, app, origins],
    submit: 'Save changes',
    onsubmit: async () => {
      await api('PATCH', '/org', { name: name.value, appUrl: app.value.trim() || null, allowedOrigins: lines() });
      toast('The settings were saved.');
      refresh();
    },
  }));
}

function leaving({ org }) {
  const leave = () => confirm({
    title: `Leave ${org.name}?`, action: 'Leave',
    text: 'You lose access at once, and your metadata here is deleted. To come back you need a new invite.',
    run: async () => {
      await api('POST', '/org/leave');
      forget(org.slug);
      location.assign('sign-in');
    },
  });
  return card('Leave', 'The last active admin cannot leave: make somebody else admin first.', button('Leave organization', leave, { kind: 'danger-quiet' }));
}
