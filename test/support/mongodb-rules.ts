// What MongoDB's manual allows, with the version that brought it: https://www.mongodb.com/docs/manual/reference/. Only what is
// used: what is not here has to be looked up there, and added with its version.

type Versions = Readonly<Record<string, number>>;

const since = (version: number, names: string): Versions =>
  Object.fromEntries(names.split(' ').map((name) => [`$${name}`, version]));

/** reference/mql/aggregation-stages */
const STAGES: Versions = {
  ...since(3, 'addFields group limit match project replaceRoot sort'),
  ...since(4.2, 'set unset'),
  // In a pipeline of its own, with localField and foreignField: 5.0.
  ...since(5, 'lookup'),
  ...since(4.4, 'unionWith'),
};
/** reference/command/update: the stages that an update may have. */
const STAGES_OF_UPDATES: Versions = since(4.2, 'addFields set project unset replaceRoot');
/** reference/mql/expressions */
const EXPRESSIONS: Versions = {
  ...since(
    3,
    'add and arrayElemAt concat concatArrays cond eq filter gt gte ifNull in let literal lt lte map max min ne not or reduce setDifference setUnion size slice subtract sum switch',
  ),
  ...since(3.6, 'mergeObjects'),
  ...since(5.2, 'sortArray'),
};
/** reference/mql/accumulators: of `$group` alone. */
const ACCUMULATORS: Versions = {
  ...since(3, 'sum min max push addToSet first'),
};
/** reference/mql/query-predicates */
const PREDICATES: Versions = since(3, 'all elemMatch eq exists gt gte in lt lte ne nin not size');
const CONNECTIVES: Versions = since(3, 'and or nor');
/** reference/mql/update */
const UPDATES: Versions = since(3, 'addToSet inc max min pull pullAll push set setOnInsert unset');
const MODIFIERS: Versions = since(3, 'each slice sort');

/** The oldest version that a server may be of. */
export const OLDEST = 6;

export type Shape = string | readonly Shape[] | { readonly [name: string]: Shape };

/** Reads a shape as the command log writes it: `{_id: {$in: [?]}}`. */
export function parseShape(text: string): { readonly shape: Shape; readonly rest: string } {
  let at = 0;
  const skipped = (upTo: string): boolean => {
    while (text[at] === ' ' || text[at] === ',') at += 1;
    return text[at] === upTo;
  };
  const word = (ends: string): string => {
    const from = at;
    while (at < text.length && !ends.includes(text[at] ?? '')) at += 1;
    return text.slice(from, at);
  };
  const value = (): Shape => {
    if (text[at] === '[') {
      const list: Shape[] = [];
      at += 1;
      while (!skipped(']')) list.push(value());
      at += 1;
      return list;
    }
    if (text[at] !== '{') return word(',]} ');
    const fields: Record<string, Shape> = {};
    at += 1;
    while (!skipped('}')) {
      const name = word(':');
      at += 2;
      fields[name] = value();
    }
    at += 1;
    return fields;
  };
  const shape = value();
  return { shape, rest: text.slice(at).trim() };
}

const isList = (shape: Shape): shape is readonly Shape[] => Array.isArray(shape);
const entriesOf = (shape: Shape | undefined): [string, Shape][] =>
  typeof shape === 'object' && !isList(shape) ? Object.entries(shape) : [];
const listOf = (shape: Shape | undefined): readonly Shape[] =>
  shape === undefined ? [] : isList(shape) ? shape : [shape];

/** What the manual does not allow in a command. */
export function faultsOf(parts: Readonly<Record<string, Shape>>): string[] {
  const faults: string[] = [];
  const known = (name: string, table: Versions, what: string): void => {
    const version = table[name];
    if (version === undefined) faults.push(`${name} is no known ${what}`);
    else if (version > OLDEST) faults.push(`${name} came with ${String(version)}`);
  };

  function expression(shape: Shape): void {
    if (isList(shape)) shape.forEach(expression);
    for (const [name, of] of entriesOf(shape)) {
      if (name === '$literal') continue;
      if (name.startsWith('$')) {
        known(name, EXPRESSIONS, 'expression');
        // Arguments by name, whose names are no fields.
        if (name === '$let')
          for (const [, each] of entriesOf(entriesOf(of).find(([key]) => key === 'vars')?.[1]))
            expression(each);
        if (name === '$sortArray') continue;
      }
      expression(of);
    }
  }

  function predicate(name: string, of: Shape): void {
    known(name, PREDICATES, 'predicate');
    if (name === '$elemMatch') query(of);
    if (name === '$not') for (const [inner, each] of entriesOf(of)) predicate(inner, each);
  }

  function query(shape: Shape): void {
    for (const [name, of] of entriesOf(shape)) {
      if (name === '$expr') expression(of);
      else if (name.startsWith('$') && CONNECTIVES[name] === undefined) predicate(name, of);
      else if (name.startsWith('$')) listOf(of).forEach(query);
      else for (const [inner, each] of entriesOf(of)) if (inner.startsWith('$')) predicate(inner, each);
    }
  }

  function pipeline(stages: Shape, allowed: Versions = STAGES): void {
    for (const stage of listOf(stages))
      for (const [name, of] of entriesOf(stage)) {
        known(name, allowed, 'stage');
        const fields = Object.fromEntries(entriesOf(of));
        switch (name) {
          case '$match':
            query(of);
            break;
          case '$group':
            for (const [field, each] of entriesOf(of))
              if (field === '_id') expression(each);
              else
                for (const [accumulator, what] of entriesOf(each)) {
                  known(accumulator, ACCUMULATORS, 'accumulator');
                  if (!/^\$(?:top|bottom)/.test(accumulator)) expression(what);
                }
            break;
          case '$lookup':
          case '$unionWith':
            pipeline(fields['pipeline'] ?? []);
            expression(fields['let'] ?? []);
            break;
          case '$sort':
          case '$limit':
          case '$unset':
            break;
          default:
            expression(of);
        }
      }
  }

  function update(of: Shape, isUpsert: boolean): void {
    if (isList(of)) {
      pipeline(of, STAGES_OF_UPDATES);
      return;
    }
    // A whole document.
    if (entriesOf(of).every(([name]) => !name.startsWith('$'))) return;
    const paths: string[] = [];
    for (const [name, fields] of entriesOf(of)) {
      known(name, UPDATES, 'update operator');
      for (const [path, each] of entriesOf(fields)) {
        if (isUpsert && path.includes('$')) faults.push(`an upsert has the positional ${path}`);
        // Two operators of one update must not change the same, or one what is within the other's.
        for (const other of paths)
          if (path === other || path.startsWith(`${other}.`) || other.startsWith(`${path}.`))
            faults.push(`${path} and ${other} are changed by one update`);
        paths.push(path);
        if (name === '$pull') for (const [inner, what] of entriesOf(each)) query({ [inner]: what });
        else
          for (const [modifier] of entriesOf(each))
            if (modifier.startsWith('$')) known(modifier, MODIFIERS, 'modifier');
      }
    }
  }

  for (const [name, shape] of Object.entries(parts)) {
    if (name === 'filter') query(shape);
    if (name === 'projection') expression(shape);
    if (name === 'pipeline') pipeline(shape);
    if (name === 'update') update(shape, true);
    if (name === 'deletes')
      for (const one of listOf(shape)) query(Object.fromEntries(entriesOf(one))['q'] ?? '');
    if (name === 'updates')
      for (const one of listOf(shape)) {
        const { q = '', u = '', upsert } = Object.fromEntries(entriesOf(one));
        query(q);
        update(u, upsert !== undefined);
      }
  }
  return faults;
}
