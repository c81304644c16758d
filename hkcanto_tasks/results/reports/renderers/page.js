'use strict';
(() => {
  const words = WORDS;
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const debounced = (action) => {
    let timer;
    return () => {
      clearTimeout(timer);
      timer = setTimeout(action, 150);
    };
  };

  // Light and dark

  const root = document.documentElement;
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  const themeButton = document.getElementById('theme');
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : prefersDark.matches);
  const showTheme = () => {
    themeButton.textContent = isDark() ? words.light : words.dark;
  };
  themeButton.hidden = false;
  themeButton.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    showTheme();
  });
  prefersDark.addEventListener('change', showTheme);
  showTheme();

  // Folded sections

  const folded = [...document.querySelectorAll('main details')];
  const reveal = () => {
    const section = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const details = section && section.querySelector(':scope > details');
    if (details) {
      details.open = true;
      section.scrollIntoView();
    }
  };
  addEventListener('hashchange', reveal);
  const unfold = document.getElementById('unfold');
  unfold.hidden = folded.length === 0;
  unfold.addEventListener('click', () => {
    const open = folded.some((details) => !details.open);
    for (const details of folded) details.open = open;
    unfold.textContent = open ? words.fold : words.unfold;
  });

  // Tables

  const numberIn = (cell) => parseFloat(cell.textContent.replace('−', '-').replace(/,|< /g, ''));
  // Missing figures come last in both orders; equal ones stay in the table's own order.
  const compare = (place, isNumber, sign) => (a, b) => {
    if (!isNumber) {
      return sign * a.cells[place].innerText.localeCompare(b.cells[place].innerText, 'en', { numeric: true });
    }
    const [x, y] = [a, b].map((row) => numberIn(row.cells[place]));
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
    return sign * (x - y);
  };
  const sortBy = (table, header, order, ownOrder) => {
    for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
    const rows = [...ownOrder];
    if (order) {
      header.setAttribute('aria-sort', order);
      const sign = order === 'ascending' ? 1 : -1;
      rows.sort(compare(header.cellIndex, header.classList.contains('number'), sign));
    }
    table.tBodies[0].append(...rows);
  };
  const makeSortable = (table) => {
    const ownOrder = [...table.tBodies[0].rows];
    if (ownOrder.length < 2) return;
    for (const header of table.tHead.rows[0].querySelectorAll('th[data-first]')) {
      const orders = ['ascending', 'descending'];
      if (header.dataset.first === 'descending') orders.reverse();
      const button = make('button', { type: 'button' }, ...header.childNodes);
      button.addEventListener('click', () => {
        const next = orders[orders.indexOf(header.getAttribute('aria-sort')) + 1];
        sortBy(table, header, next, ownOrder);
      });
      header.prepend(button);
    }
  };
  const makeFilterable = (container) => {
    const rows = [...container.querySelectorAll('tbody > tr')];
    const input = make('input', { type: 'search' });
    const count = make('output');
    const apply = () => {
      const wanted = input.value.trim().toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
      const shown = rows.filter((row) => !row.hidden).length;
      const counted = words[shown < rows.length ? 'some rows' : 'all rows'];
      count.textContent = counted.replace('{some}', shown).replace('{all}', rows.length);
    };
    apply();
    input.addEventListener('input', debounced(apply));
    container.before(make('div', { className: 'filter' }, make('label', {}, words.filter, input), count));
  };

  document.querySelectorAll('.table > table').forEach(makeSortable);
  document.querySelectorAll('.table.long').forEach(makeFilterable);
  reveal();
})();
