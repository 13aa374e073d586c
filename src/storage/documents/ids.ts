import type { Ids } from './declaration.ts';

export type Change = (id: string) => string;

const AUDIENCE_KEY = /^(team|department|user|notified):(.*)$/su;
/** Comes after the id in a stamp of a name; see `directory-stamps.ts`. */
export const STAMP_SEPARATOR = '\t';

/** How to change the id in a value of each kind. */
const CHANGE: { readonly [Kind in keyof Required<Ids>]: (value: string, change: Change) => string } = {
  member: (id, change) => change(id),
  ref: (id, change) => change(id),
  group: (id, change) => change(id),
  key: (key, change) => {
    const [, kind, id] = AUDIENCE_KEY.exec(key) ?? [];
    return kind === undefined || id === undefined ? key : `${kind}:${change(id)}`;
  },
  stamp: (stamp, change) => {
    const end = stamp.lastIndexOf(STAMP_SEPARATOR);
    return `${change(stamp.slice(0, end))}${stamp.slice(end)}`;
  },
};

/** A copy of the document with every id changed. Absent fields stay absent. */
export function mapIds<D extends object>(document: D, ids: Ids, change: Change): D {
  const kinds = Object.keys(ids) as (keyof Ids)[];
  return kinds.reduce<D>(
    (mapped, kind) =>
      (ids[kind] ?? []).reduce<D>(
        (one, path) => mapAt(one, path.match(STEPS) ?? [], (value) => CHANGE[kind](value, change)) as D,
        mapped,
      ),
    document,
  );
}

/** All ids in a document, possibly with duplicates. */
export function idsIn(document: object, ids: Ids): string[] {
  const found: string[] = [];
  mapIds(document, ids, (id) => {
    found.push(id);
    return id;
  });
  return found;
}

/** The value at a path. A list on the way has no single value. */
export function valueAt(document: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, field) => (value as Readonly<Record<string, unknown>> | undefined)?.[field],
      document,
    );
}

/** A path as the database takes it, which looks into lists on its own. */
export function fieldOf(path: string): string {
  return path.replaceAll('[]', '');
}

const STEPS = /[^.[\]]+|\[\]/gu;

function mapAt(value: unknown, [step, ...rest]: readonly string[], change: Change): unknown {
  if (step === undefined) return typeof value === 'string' ? change(value) : value;
  if (step === '[]')
    return Array.isArray(value) ? value.map((item: unknown) => mapAt(item, rest, change)) : value;
  const field = (value as Readonly<Record<string, unknown>> | null | undefined)?.[step];
  return field === undefined ? value : { ...(value as object), [step]: mapAt(field, rest, change) };
}
