'use strict';
(() => {
  const PAGE = 25;
  const EXCERPT = 600;

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
    themeButton.textContent = isDark() ? 'Light theme' : 'Dark theme';
  };
  themeButton.hidden = false;
  themeButton.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    showTheme();
  });
  prefersDark.addEventListener('change', showTheme);
  showTheme();

  const contents = document.getElementById('contents');
  contents.addEventListener('click', (event) => {
    if (event.target.closest('a')) contents.open = false;
  });

  // Folded sections

  // What makes a page too large is compressed in it, and becomes HTML when it is unfolded.
  const unpack = async (details) => {
    const packed = details.querySelector(':scope > .packed + script');
    if (!packed) return;
    const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    packed.previousSibling.remove();
    packed.remove();
    details.insertAdjacentHTML('beforeend', await new Response(stream).text());
    enhance(details);
  };
  const folded = [...document.querySelectorAll('section > details')];
  for (const details of folded) {
    details.addEventListener('toggle', () => { if (details.open) unpack(details); });
  }
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
    unfold.textContent = open ? 'Fold all' : 'Unfold all';
  });

  // Tables

  // Missing figures come last in both orders; equal ones stay in the table's own order.
  const compare = (place, isNumber, sign) => (a, b) => {
    if (!isNumber) {
      return sign * a.cells[place].innerText.localeCompare(b.cells[place].innerText, 'en', { numeric: true });
    }
    const [x, y] = [a, b].map((row) => row.cells[place].dataset.value);
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
    return sign * (Number(x) - Number(y));
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
    const count = make('output', {}, `${rows.length} rows`);
    const apply = () => {
      const wanted = input.value.trim().toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
      const shown = rows.filter((row) => !row.hidden).length;
      count.textContent = shown < rows.length ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
    };
    input.addEventListener('input', debounced(apply));
    container.before(make('div', { className: 'filter' }, make('label', {}, 'Filter rows', input), count));
  };

  // Answers: a question with what each run wrote, side by side

  const han = /\p{Script=Han}/u;
  const text = (tag, content, properties = {}) => {
    const element = make(tag, { dir: 'auto', ...properties }, content);
    if (han.test(content)) element.lang = 'zh-HK';
    return element;
  };
  const NAMES = ['model', 'task', 'item', 'subject', 'prompt', 'response', 'answer', 'target', 'reason', 'score'];
  const SEARCHED = ['item', 'prompt', 'response', 'answer', 'target'];
  const verdictOf = ({ score, reason }, texts) => {
    if (texts[reason].startsWith('none')) return 'unread';
    if (score === null) return 'unscored';
    return score === 1 ? 'right' : 'wrong';
  };
  const MARKS = { right: '✓ right', wrong: '✗ wrong', unread: '✗ unread', unscored: 'not scored' };

  const showItems = (container) => {
    const { texts, rows } = JSON.parse(document.getElementById(container.dataset.items).textContent);
    const lowered = texts.map((entry) => entry.toLowerCase());
    const answers = rows.map((row) => Object.fromEntries(NAMES.map((name, place) => [name, row[place]])));
    const questions = new Map();
    for (const answer of answers) {
      answer.verdict = verdictOf(answer, texts);
      const key = `${answer.task} ${answer.item}`;
      if (!questions.has(key)) questions.set(key, []);
      questions.get(key).push(answer);
    }
    const groups = [...questions.values()];
    let found = groups;
    let start = 0;

    const select = (label, options) => {
      const element = make('select', {}, make('option', { value: '' }, 'all'));
      for (const [value, shown] of options) element.append(make('option', { value }, shown));
      element.addEventListener('change', apply);
      return { element, label: make('label', { hidden: options.length < 2 }, label, element) };
    };
    const values = (name) => [...new Set(answers.map((answer) => answer[name]))].map((place) => [String(place), texts[place] || '–']);
    const runs = values('model');
    const fields = {
      task: select('Task', values('task')),
      subject: select('Subject', values('subject')),
      first: select('Run', runs),
      second: select('beside', runs),
      verdict: select('Answer', [
        ...Object.keys(MARKS).map((name) => [name, name]),
        ['disagree', 'runs disagree'],
      ]),
      reason: select('Read as', values('reason')),
    };
    const search = make('input', { type: 'search' });
    search.addEventListener('input', debounced(apply));
    const count = make('output', {});
    const list = make('div', { className: 'questions' });
    const earlier = make('button', { type: 'button' }, 'Previous');
    const later = make('button', { type: 'button' }, 'Next');
    const where = make('span', {});
    const turn = (step) => () => {
      start += step;
      show();
      container.scrollIntoView();
    };
    earlier.addEventListener('click', turn(-PAGE));
    later.addEventListener('click', turn(PAGE));

    // A long text is put into the document when it is opened: fifty of them can be a megabyte.
    const folded = (name, place) => {
      const details = make('details', {}, make('summary', {}, name));
      details.addEventListener('toggle', () => details.append(text('pre', texts[place])), { once: true });
      return details;
    };
    const responseOf = (place) =>
      texts[place].length > EXCERPT
        ? make('div', {}, text('pre', `${texts[place].slice(0, EXCERPT).replace(/[\ud800-\udbff]$/, '')}…`), folded('The whole response', place))
        : text('pre', texts[place] || '(nothing)');
    const answerOf = (answer) =>
      make(
        'div',
        { className: 'answer' },
        make('p', {}, make('b', {}, texts[answer.model]), ' ', make('span', { className: `badge ${answer.verdict === 'right' ? 'good' : 'bad'}` }, MARKS[answer.verdict])),
        make('p', {}, 'Read: ', text('b', texts[answer.answer] || '–'), texts[answer.reason] ? ` (${texts[answer.reason]})` : ''),
        responseOf(answer.response),
      );
    const questionOf = (group) =>
      make(
        'article',
        {},
        make('h3', {}, text('span', texts[group[0].item]), ' ', text('small', [texts[group[0].subject], texts[group[0].task]].filter(Boolean).join(' · '))),
        make('p', {}, 'Gold: ', text('b', texts[group[0].target])),
        folded('Prompt', group[0].prompt),
        make('div', { className: 'answers' }, ...group.map(answerOf)),
      );
    function show() {
      const end = Math.min(start + PAGE, found.length);
      list.replaceChildren(...found.slice(start, end).map(questionOf));
      count.textContent = `${found.length.toLocaleString('en')} of ${groups.length.toLocaleString('en')} questions`;
      where.textContent = found.length ? `${start + 1}–${end} of ${found.length.toLocaleString('en')}` : 'none';
      earlier.disabled = start === 0;
      later.disabled = end === found.length;
    }
    function apply() {
      const chosen = Object.fromEntries(Object.entries(fields).map(([name, { element }]) => [name, element.value]));
      const models = [chosen.first, chosen.second].filter(Boolean).map(Number);
      const wanted = search.value.trim().toLowerCase();
      const matching = wanted && lowered.map((entry) => entry.includes(wanted));
      const is = (answer, name) => !chosen[name] || answer[name] === Number(chosen[name]);
      const fits = (answer) =>
        is(answer, 'reason') &&
        (!chosen.verdict || chosen.verdict === 'disagree' || answer.verdict === chosen.verdict) &&
        (!wanted || SEARCHED.some((name) => matching[answer[name]]));
      const disagree = (group) => new Set(group.map((answer) => `${answer.score} ${answer.answer}`)).size > 1;
      found = groups
        .map((group) => (models.length ? group.filter((answer) => models.includes(answer.model)) : group))
        .filter((group) => group.length && is(group[0], 'task') && is(group[0], 'subject') && group.some(fits))
        .filter((group) => chosen.verdict !== 'disagree' || disagree(group));
      start = 0;
      show();
    }

    const labels = Object.values(fields).map(({ label }) => label);
    const filter = make('div', { className: 'filter' }, ...labels, make('label', {}, 'Text', search), count);
    container.replaceChildren(filter, list, make('div', { className: 'pages' }, earlier, where, later));
    show();
  };

  function enhance(part) {
    part.querySelectorAll('.table > table').forEach(makeSortable);
    part.querySelectorAll('.table.long').forEach(makeFilterable);
    part.querySelectorAll('.items').forEach(showItems);
  }
  enhance(document);
  reveal();
})();
