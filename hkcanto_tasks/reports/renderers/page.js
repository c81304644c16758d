'use strict';
(() => {
  const PAGE = 50;
  const SERIES = 8;
  const HEAT = 4;
  const NARROW = 480;

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
    drawCharts();
  };
  themeButton.hidden = false;
  themeButton.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    showTheme();
  });
  prefersDark.addEventListener('change', showTheme);

  // Contents

  const contents = document.getElementById('contents');
  const wide = matchMedia('(min-width: 64rem)');
  const showContents = () => {
    contents.open = wide.matches;
  };
  showContents();
  wide.addEventListener('change', showContents);
  contents.addEventListener('click', (event) => {
    if (!wide.matches && event.target.closest('a')) contents.open = false;
  });
  const links = new Map(
    [...contents.querySelectorAll('a')].map((link) => [link.hash.slice(1), link]),
  );
  const observer = new IntersectionObserver(
    (entries) => {
      const seen = entries.find((entry) => entry.isIntersecting);
      if (!seen) return;
      for (const link of links.values()) link.removeAttribute('aria-current');
      links.get(seen.target.id)?.setAttribute('aria-current', 'true');
    },
    { rootMargin: '-15% 0px -80% 0px' },
  );
  for (const section of document.querySelectorAll('main > section')) observer.observe(section);

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
    for (const header of table.tHead.rows[0].cells) {
      const orders = ['ascending', 'descending'];
      if (header.dataset.first === 'descending') orders.reverse();
      const button = make('button', { type: 'button' }, ...header.childNodes);
      button.addEventListener('click', () => {
        const next = orders[orders.indexOf(header.getAttribute('aria-sort')) + 1];
        sortBy(table, header, next, ownOrder);
      });
      header.append(button);
    }
  };
  const makeFilterable = (container) => {
    const rows = [...container.querySelectorAll('tbody > tr')];
    const input = make('input', { type: 'search' });
    const count = make('output', {}, `${rows.length} rows`);
    const apply = () => {
      const wanted = input.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        shown += !row.hidden;
      }
      count.textContent = wanted ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
    };
    input.addEventListener('input', debounced(apply));
    container.before(make('div', { className: 'filter' }, make('label', {}, 'Filter rows', input), count));
  };
  document.querySelectorAll('.table > table').forEach(makeSortable);
  document.querySelectorAll('.table.long').forEach(makeFilterable);

  // Charts

  const probe = make('i', { hidden: true });
  document.body.append(probe);
  const colour = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = (name, number) => Array.from({ length: number }, (_, i) => colour(`${name}-${i}`));
  const longestLabel = (room) => Math.max(90, room * 0.36);
  const chartConfig = (room) => {
    const ink = colour('ink');
    const muted = colour('muted');
    const line = colour('line');
    const heat = colours('heat', HEAT);
    const title = { titleColor: muted, titleFontWeight: 500, titleFontSize: 12 };
    const label = { labelColor: ink, labelFontSize: 12, labelLimit: longestLabel(room) };
    return {
      background: colour('surface'),
      font: getComputedStyle(document.body).fontFamily,
      padding: 2,
      view: { stroke: null },
      title: { color: ink, subtitleColor: muted },
      axis: { ...title, ...label, gridColor: line, domainColor: muted, tickColor: muted },
      axisXDiscrete: { labelAngle: -30 },
      legend: { ...title, ...label, ...(room < NARROW && { columns: 1 }) },
      header: { ...title, ...label },
      mark: { color: colour('series-0') },
      text: { color: ink, fontSize: 11 },
      rule: { color: ink },
      range: { category: colours('series', SERIES), heatmap: heat, ramp: heat, ordinal: heat },
    };
  };
  const composed = ['concat', 'hconcat', 'vconcat', 'facet', 'repeat'];
  const fillsItsContainer = (spec) =>
    (spec.width ?? 'container') === 'container' &&
    !composed.some((key) => key in spec) &&
    !['row', 'column', 'facet'].some((key) => key in (spec.encoding ?? {}));

  const tooltip = make('div', { className: 'tooltip', hidden: true });
  document.body.append(tooltip);
  const showTooltip = (_handler, event, _item, value) => {
    tooltip.hidden = value === undefined || value === null || value === '';
    if (tooltip.hidden) return;
    const lines =
      typeof value === 'object'
        ? Object.entries(value).map(([name, text]) =>
            make('div', {}, make('b', {}, name), ` ${typeof text === 'object' ? '' : text}`),
          )
        : [String(value)];
    tooltip.replaceChildren(...lines);
    const { width, height } = tooltip.getBoundingClientRect();
    tooltip.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - width - 4))}px`;
    tooltip.style.top = `${Math.max(4, Math.min(event.clientY + 12, innerHeight - height - 4))}px`;
  };

  // Each drawing's promise of a chart: the next one waits for it and takes it down.
  const drawings = new Map();
  const saveButton = (kind, drawing, name) => {
    const button = make('button', { type: 'button' }, kind.toUpperCase());
    button.setAttribute('aria-label', `Save the chart as ${kind.toUpperCase()}: ${name}`);
    button.addEventListener('click', async () => {
      const href = await (await drawings.get(drawing)).view.toImageURL(kind, 2);
      make('a', { href, download: `${name}.${kind}` }).click();
    });
    return button;
  };
  const draw = async (drawing, before) => {
    const room = drawing.clientWidth;
    const spec = JSON.parse(document.getElementById(drawing.dataset.spec).textContent, (key, value) => {
      if (key === 'labelLimit') return Math.min(value, longestLabel(room));
      return key === 'columns' && room < NARROW ? 1 : value;
    });
    (await before)?.finalize();
    try {
      const fits = fillsItsContainer(spec);
      const { $schema, ...chart } = fits ? { ...spec, width: room, autosize: 'pad' } : spec;
      return await vegaEmbed(drawing, chart, {
        mode: 'vega-lite',
        renderer: 'svg',
        // The page's policy forbids eval: Vega interprets its expressions instead.
        ast: true,
        actions: false,
        defaultStyle: false,
        tooltip: showTooltip,
        config: chartConfig(room),
        // Set behind Vega-Lite's back: it warns if a chart that fits its width has a step for height.
        patch: (drawn) =>
          fits ? { ...drawn, autosize: { type: 'fit-x', contains: 'padding' } } : drawn,
      });
    } catch (error) {
      drawing.textContent = `This chart could not be drawn: ${error.message}`;
      return null;
    }
  };
  function drawCharts() {
    for (const drawing of document.querySelectorAll('.drawing')) {
      drawings.set(drawing, draw(drawing, drawings.get(drawing)));
    }
  }
  let width = innerWidth;
  const redrawAtNewWidth = () => {
    if (width !== innerWidth) drawCharts();
    width = innerWidth;
  };
  addEventListener('resize', debounced(redrawAtNewWidth));
  for (const drawing of document.querySelectorAll('.drawing')) {
    const caption = drawing.closest('figure').querySelector('figcaption');
    const name = caption.firstElementChild.textContent;
    const buttons = ['svg', 'png'].map((kind) => saveButton(kind, drawing, name));
    caption.append(make('span', { className: 'save' }, ...buttons));
  }

  // Answers

  const han = /\p{Script=Han}/u;
  const text = (tag, content, properties = {}) => {
    const element = make(tag, { dir: 'auto', ...properties }, content);
    if (han.test(content)) element.lang = 'zh-HK';
    return element;
  };
  const showItems = (container) => {
    const source = JSON.parse(document.getElementById(container.dataset.items).textContent);
    const { texts } = source;
    const lowered = texts.map((entry) => entry.toLowerCase());
    const items = source.rows.map(
      ([model, task, item, subject, prompt, response, answer, target, correct]) => ({
        model, task, item, subject, prompt, response, answer, target, correct,
      }),
    );
    let found = items;
    let start = 0;

    const choice = (name, label) => {
      const values = [...new Set(items.map((item) => item[name]))];
      const select = make('select', {}, make('option', { value: '' }, 'all'));
      for (const value of values) select.append(make('option', { value: String(value) }, texts[value] || '–'));
      select.addEventListener('change', apply);
      return { name, select, label: make('label', { hidden: values.length < 2 }, label, select) };
    };
    const choices = [choice('model', 'Model'), choice('task', 'Task'), choice('subject', 'Subject')];
    const correctness = make(
      'select',
      {},
      make('option', { value: '' }, 'all'),
      make('option', { value: '0' }, 'wrong'),
      make('option', { value: '1' }, 'right'),
    );
    correctness.addEventListener('change', apply);
    const search = make('input', { type: 'search' });
    search.addEventListener('input', debounced(apply));
    const count = make('output', {});

    const body = make('tbody');
    const headings = ['Item', 'Model', 'Task', 'Subject', 'Answer', 'Gold', 'Right'];
    const head = make('tr', {}, ...headings.map((name) => make('th', { scope: 'col' }, name)));
    const caption = make('caption', {}, make('div', {}, make('b', {}, 'Answers'), ' Open a row’s prompt or response to read it.'));
    const table = make('table', {}, caption, make('thead', {}, head), body);
    const region = make('div', { className: 'table', tabIndex: 0 }, table);
    region.setAttribute('role', 'region');
    region.setAttribute('aria-label', 'Answers');

    const earlier = make('button', { type: 'button' }, 'Previous');
    const later = make('button', { type: 'button' }, 'Next');
    const turn = (step) => () => {
      start += step;
      show();
      container.scrollIntoView();
    };
    earlier.addEventListener('click', turn(-PAGE));
    later.addEventListener('click', turn(PAGE));
    const where = make('span', {});

    // A text is put into the document when it is opened: fifty of them can be a megabyte.
    const closed = (name, place) => {
      const details = make('details', {}, make('summary', {}, name));
      details.addEventListener(
        'toggle',
        () => details.append(text('pre', texts[place])),
        { once: true },
      );
      return details;
    };
    const rowsOf = (item) => {
      const cells = ['model', 'task', 'subject', 'answer', 'target'].map((name) => text('td', texts[item[name]]));
      const verdict = item.correct
        ? make('td', { className: 'right' }, '✓ right')
        : make('td', { className: 'wrong' }, '✗ wrong');
      const both = make('div', {}, closed('Response', item.response), closed('Prompt', item.prompt));
      return [
        make('tr', {}, text('th', texts[item.item], { scope: 'row' }), ...cells, verdict),
        make('tr', { className: 'texts' }, make('td', { colSpan: headings.length }, both)),
      ];
    };
    function show() {
      const end = Math.min(start + PAGE, found.length);
      body.replaceChildren(...found.slice(start, end).flatMap(rowsOf));
      count.textContent = `${found.length.toLocaleString('en')} of ${items.length.toLocaleString('en')} answers`;
      where.textContent = found.length ? `${start + 1}–${end} of ${found.length.toLocaleString('en')}` : 'none';
      earlier.disabled = start === 0;
      later.disabled = end === found.length;
    }
    function apply() {
      const wanted = search.value.trim().toLowerCase();
      const matching = lowered.map((entry) => entry.includes(wanted));
      const searched = ['item', 'prompt', 'response', 'answer', 'target'];
      found = items.filter(
        (item) =>
          choices.every(({ name, select }) => !select.value || item[name] === Number(select.value)) &&
          (!correctness.value || item.correct === Number(correctness.value)) &&
          (!wanted || searched.some((name) => matching[item[name]])),
      );
      start = 0;
      show();
    }

    const filter = make(
      'div',
      { className: 'filter' },
      ...choices.map(({ label }) => label),
      make('label', {}, 'Right or wrong', correctness),
      make('label', {}, 'Text', search),
      count,
    );
    container.replaceChildren(filter, region, make('div', { className: 'pages' }, earlier, where, later));
    show();
  };
  document.querySelectorAll('.items').forEach(showItems);

  showTheme();
})();
