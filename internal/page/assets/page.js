'use strict';
// What is drawn is in the page already. This steps through it, sorts it, and shows what is pointed at.
(() => {
  const $ = (selector, within = document) => within.querySelector(selector);
  const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
  const root = document.documentElement;
  root.classList.add('js');
  const element = (name, className, text) => {
    const e = document.createElement(name);
    if (className) e.className = className;
    if (text !== undefined) e.textContent = text;
    return e;
  };

  // The theme: that of the system, until somebody chooses.
  const remember = (value) => { try { localStorage.setItem('preemptcheck-theme', value); } catch { /* not everywhere */ } };
  try { const theme = localStorage.getItem('preemptcheck-theme'); if (theme) root.dataset.theme = theme; } catch { /* likewise */ }
  const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  const toggle = element('button', 'theme');
  toggle.type = 'button';
  const name = () => { toggle.textContent = isDark() ? 'Light theme' : 'Dark theme'; };
  toggle.addEventListener('click', () => { root.dataset.theme = isDark() ? 'light' : 'dark'; remember(root.dataset.theme); name(); });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', name);
  name();
  $('.brand').append(toggle);

  // Steps: one stage, or one event, at a time.
  const steps = $('[data-steps]');
  if (steps) {
    const links = $$('a[href^="#"]', steps);
    const stages = links.map((a) => document.getElementById(a.hash.slice(1)));
    const panel = $('[data-staged]');
    const [back, on] = ['Previous', 'Next'].map((label, i) => {
      const b = element('button', 'only-js', i ? '→' : '←');
      b.type = 'button';
      b.setAttribute('aria-label', label);
      return b;
    });
    steps.prepend(back);
    steps.append(on);
    const said = element('p', 'skip');
    said.setAttribute('aria-live', 'polite');
    steps.append(said);
    let at = 0;
    const go = (to, aloud = true) => {
      at = Math.max(0, Math.min(links.length - 1, to));
      stages.forEach((s, i) => { s.hidden = i !== at; });
      links.forEach((a, i) => { if (i === at) a.setAttribute('aria-current', 'step'); else a.removeAttribute('aria-current'); });
      back.setAttribute('aria-disabled', at === 0);
      on.setAttribute('aria-disabled', at === links.length - 1);
      if (panel) panel.dataset.stage = stages[at].dataset.name;
      const list = links[at].closest('ol');
      const item = links[at].parentElement;
      list.scrollLeft = item.offsetLeft - list.offsetLeft - list.clientWidth / 2 + item.offsetWidth / 2;
      if (aloud) said.textContent = links[at].textContent;
    };
    back.addEventListener('click', () => go(at - 1));
    on.addEventListener('click', () => go(at + 1));
    links.forEach((a, i) => a.addEventListener('click', (e) => { e.preventDefault(); go(i); }));
    document.addEventListener('keydown', (e) => {
      if (e.defaultPrevented || e.altKey || e.ctrlKey || e.metaKey || e.target.closest('input, select, textarea')) return;
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: links.length - 1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      go(to);
      if (e.target.closest('[data-steps] a')) links[at].focus();
    });
    go(Math.max(0, links.findIndex((a) => a.hash === location.hash)), false);
  }

  // Moments of a timeline: one after another, with a line through the lanes.
  const list = $('[data-moments]');
  if (list) {
    const moments = [...list.children];
    const cursor = $('[data-cursor]');
    const lanes = $('[data-lanes]');
    const nav = $('[data-moments-nav]');
    const [back, on] = ['Previous moment', 'Next moment'].map((label, i) => {
      const b = element('button', '', i ? '→' : '←');
      b.type = 'button';
      b.setAttribute('aria-label', label);
      return b;
    });
    const where = element('span', 'where');
    where.setAttribute('aria-live', 'polite');
    nav.append(back, on, where);
    let at = 0;
    const go = (to) => {
      at = Math.max(0, Math.min(moments.length - 1, to));
      moments.forEach((m, i) => { if (i === at) m.setAttribute('aria-current', 'step'); else m.removeAttribute('aria-current'); });
      const x = Number(moments[at].dataset.x);
      cursor.setAttribute('x1', x);
      cursor.setAttribute('x2', x);
      if (x < lanes.scrollLeft + 40 || x > lanes.scrollLeft + lanes.clientWidth - 80) lanes.scrollLeft = x - lanes.clientWidth / 3;
      where.textContent = `${at + 1} of ${moments.length}: ${$('.at', moments[at]).textContent}, ${$('.txt', moments[at]).textContent}`;
    };
    back.addEventListener('click', () => go(at - 1));
    on.addEventListener('click', () => go(at + 1));
    list.addEventListener('click', (e) => { const i = moments.indexOf(e.target.closest('li')); if (i >= 0) go(i); });
    document.addEventListener('keydown', (e) => {
      if (e.defaultPrevented || e.altKey || e.ctrlKey || e.metaKey || e.target.closest('input, select, textarea')) return;
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: moments.length - 1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      go(to);
    });
    if (moments.length > 0) go(0);
  }

  // The detail panel tells what is pointed at.
  const detail = $('[data-detail]');
  let shown = null;
  const show = (item) => {
    if (!detail || !item || item === shown) return;
    if (item.matches('.legend *')) return;
    if (shown) shown.classList.remove('at');
    shown = item;
    shown.classList.add('at');
    const titled = item.matches('.pod') ? $(`.pod[data-k="${item.dataset.k}"] > title`, item.closest('.node')) : null;
    const title = $(':scope > title', item) ?? titled;
    const lines = title ? title.textContent.split('\n')
      : [$('.nname', item).textContent, ...$$(':scope > .nhead .tag, :scope > .note', item).map((n) => n.textContent), ...$$('.row:not([hidden])', item).map((r) => $('.bar', r).getAttribute('aria-label'))];
    const list = element('ul');
    list.append(...lines.slice(1).map((line) => element('li', '', line)));
    detail.replaceChildren(element('h2', '', lines[0]), list);
  };
  for (const kind of ['mouseover', 'focusin']) {
    document.addEventListener(kind, (e) => show(e.target.closest('[data-item], .pod')));
  }

  // Roving focus: one stop for the tab key, arrows from there.
  for (const group of $$('[data-rove]')) {
    const visible = (e) => e.getClientRects().length > 0;
    const first = () => $$('[data-item]', group).find(visible);
    const take = (item) => {
      if (!item) return;
      $$('[tabindex="0"]', group).forEach((e) => { e.tabIndex = -1; });
      item.setAttribute('tabindex', '0');
      item.focus();
    };
    const start = first();
    if (start) start.setAttribute('tabindex', '0');
    group.addEventListener('keydown', (e) => {
      const item = e.target.closest('[data-item]');
      if (!item || e.target !== item) return;
      const all = $$('[data-item]', group).filter(visible);
      const tops = all.filter((i) => i.matches('li') || !i.closest('li') && i === $('[data-item]', i.parentElement));
      const top = tops.findLast((t) => t === item || t.contains(item) || t.compareDocumentPosition(item) & Node.DOCUMENT_POSITION_FOLLOWING);
      const to = {
        ArrowRight: all[all.indexOf(item) + 1], ArrowLeft: all[all.indexOf(item) - 1],
        ArrowDown: tops[tops.indexOf(top) + 1], ArrowUp: tops[tops.indexOf(top) - 1], Home: all[0], End: all[all.length - 1],
      };
      if (!(e.key in to)) return;
      e.preventDefault();
      take(to[e.key]);
    });
    group.addEventListener('focusin', (e) => {
      const item = e.target.closest('[data-item]');
      if (!item) return;
      $$('[tabindex="0"][data-item]', group).forEach((i) => { if (i !== item) i.setAttribute('tabindex', '-1'); });
      item.setAttribute('tabindex', '0');
    });
  }

  // Which resources are shown, and which of many things.
  for (const map of $$('[data-map]')) {
    for (const box of $$('[data-resource]', map)) {
      box.addEventListener('change', () => $$(`.row[data-r="${box.dataset.resource}"]`, map).forEach((r) => { r.hidden = !box.checked; }));
    }
  }
  for (const input of $$('[data-search]')) {
    const items = $$('.nodes > li, [data-found]', input.closest('[data-map], [data-list]'));
    input.addEventListener('input', () => {
      const wanted = input.value.trim().toLowerCase();
      for (const item of items) item.classList.toggle('lost', !item.textContent.toLowerCase().includes(wanted));
      count();
    });
  }
  const chosen = $$('[data-filter]');
  const count = () => $$('[data-count]').forEach((c) => {
    const all = $$('[data-found]', c.closest('[data-list]'));
    c.textContent = `${all.filter((i) => !i.matches('.lost, .out')).length} of ${all.length} shown`;
  });
  for (const box of chosen) {
    box.addEventListener('change', () => {
      const list = box.closest('[data-list]');
      const on = new Set($$('[data-filter]', list).filter((b) => b.checked).map((b) => b.value));
      $$('[data-found]', list).forEach((i) => i.classList.toggle('out', !on.has(i.dataset.class)));
      count();
    });
  }
  count();

  // Tables are sorted by the column whose head is pressed.
  for (const table of $$('table[data-sortable]')) {
    const heads = $$('thead th', table);
    heads.forEach((th, column) => {
      const button = element('button');
      button.type = 'button';
      button.append(...th.childNodes);
      th.append(button);
      button.addEventListener('click', () => {
        const down = th.getAttribute('aria-sort') === 'ascending';
        heads.forEach((other) => other.removeAttribute('aria-sort'));
        th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        const value = (row) => { const cell = row.cells[column]; return cell.dataset.v ?? cell.textContent.trim(); };
        const body = table.tBodies[0];
        const compare = (a, b) => {
          const [x, y] = [value(a), value(b)], [m, n] = [Number(x), Number(y)];
          return x !== '' && y !== '' && !Number.isNaN(m) && !Number.isNaN(n) ? m - n : x.localeCompare(y);
        };
        body.append(...[...body.rows].sort((a, b) => down ? compare(b, a) : compare(a, b)));
      });
    });
  }
  root.dataset.ready = Math.round(performance.now());
})();
