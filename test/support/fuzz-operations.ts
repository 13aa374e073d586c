import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';
import type { SeededRandom } from './seeded-random.ts';

/** Values that mean something to this server, by what they are good for. */
export interface FuzzWorld {
  readonly ids: readonly string[];
  readonly globalIds: readonly string[];
  readonly cursors: readonly string[];
}

export interface FuzzOperation {
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

const STRANGE: readonly unknown[] = [
  ...['', ' ', '\u0000', '\ud800', '__proto__', 'constructor', '$where', 'a.b', 'NaN', 'x'.repeat(300)],
  ...[
    '2026-02-30T00:00:00Z',
    '2026-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
    '9'.repeat(400),
    'ﷺ'.repeat(64),
  ],
  ...[-1, 0, 1e308, 5e-324, 2 ** 31, 2 ** 53, 101, 0.1, true, false, null],
  ...[
    { $gt: '' },
    { $oid: '0123456789abcdef01234567' },
    {},
    [],
    [[]],
    [null],
    [{}],
    { a: { b: { c: [1, 'x'] } } },
  ],
];
const TIMES = ['2026-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z', '2026-01-02T12:00:00.123Z'];
const MAX_DEPTH = 5;

/** Makes operations from a schema: most of them good in nearly all their parts, so that they get far. */
export class OperationFuzz {
  readonly #schema: GraphQLSchema;
  readonly #random: SeededRandom;
  readonly #world: FuzzWorld;
  #variables: Record<string, unknown> = {};
  #declarations: string[] = [];

  constructor(schema: GraphQLSchema, random: SeededRandom, world: FuzzWorld) {
    this.#schema = schema;
    this.#random = random;
    this.#world = world;
  }

  next(): FuzzOperation {
    this.#variables = {};
    this.#declarations = [];
    const kind = this.#random.pick([
      'query',
      'query',
      'query',
      'mutation',
      'mutation',
      'subscription',
    ] as const);
    const root = {
      query: this.#schema.getQueryType(),
      mutation: this.#schema.getMutationType(),
      subscription: this.#schema.getSubscriptionType(),
    }[kind];
    if (root == null) throw new Error(`The schema has no ${kind}`);
    const fields = this.#selections(root, 0, kind === 'subscription' ? 1 : 1 + this.#random.below(3));
    if (this.#is(0.03)) this.#declarations.push('$unused: Int');
    if (this.#is(0.03)) this.#variables['undeclared'] = this.#strange();
    const declared = this.#declarations.length === 0 ? '' : `(${this.#declarations.join(', ')})`;
    const text = `${kind} Fuzz${declared} { ${fields} }`;
    return { kind, query: this.#is(0.03) ? this.#spoilt(text) : text, variables: this.#variables };
  }

  #is(chance: number): boolean {
    return this.#random.next() < chance;
  }

  #strange(): unknown {
    return this.#random.pick(STRANGE);
  }

  #selections(type: GraphQLNamedType, depth: number, count: number): string {
    if (!isObjectType(type) && !isInterfaceType(type)) {
      const member = this.#random.pick(this.#schema.getPossibleTypes(type as never));
      return `__typename ... on ${member.name} { ${this.#selections(member, depth, count)} }`;
    }
    const fields = Object.values(type.getFields());
    const picked = Array.from({ length: count }, () => this.#random.pick(fields));
    const texts = picked.map((field, n) => this.#field(field, depth, n));
    if (isInterfaceType(type) && this.#is(0.7)) {
      const member = this.#random.pick(this.#schema.getPossibleTypes(type));
      texts.push(`... on ${member.name} { ${this.#selections(member, depth + 1, 2)} }`);
    }
    if (this.#is(0.1)) texts.push('__typename');
    if (this.#is(0.02)) texts.push('doesNotExist');
    return texts.join(' ');
  }

  #field(field: GraphQLField<unknown, unknown>, depth: number, n: number): string {
    const type = getNamedType(field.type);
    const args = field.args.flatMap((arg) => {
      const isNeeded = isNonNullType(arg.type) && arg.defaultValue === undefined;
      if (!this.#is(isNeeded ? 0.98 : 0.4)) return [];
      return [`${arg.name}: ${this.#argument(arg.type)}`];
    });
    if (this.#is(0.01)) args.push('unknown: 1');
    const call = `a${String(depth)}_${String(n)}: ${field.name}${args.length === 0 ? '' : `(${args.join(', ')})`}`;
    const directive = this.#is(0.03) ? ' @include(if: true)' : '';
    if (isLeafType(type)) return call + directive;
    if (depth >= MAX_DEPTH) return `${call}${directive} { __typename }`;
    return `${call}${directive} { ${this.#selections(type, depth + 1, 1 + this.#random.below(3))} }`;
  }

  #argument(type: GraphQLInputType): string {
    const value = this.#value(type, 0);
    if (this.#is(0.4)) return literal(value, type);
    const name = `v${String(this.#declarations.length)}`;
    this.#declarations.push(`$${name}: ${this.#is(0.02) ? 'String' : String(type)}`);
    if (!this.#is(0.02)) this.#variables[name] = value;
    return `$${name}`;
  }

  #value(type: GraphQLInputType, depth: number): unknown {
    if (this.#is(0.04)) return this.#strange();
    if (isNonNullType(type)) return this.#value(type.ofType, depth);
    if (this.#is(0.05)) return null;
    if (isListType(type)) {
      const length = this.#is(0.05) ? this.#random.below(600) : this.#random.below(4);
      return Array.from({ length }, () => this.#value(type.ofType, depth + 1));
    }
    if (isEnumType(type)) return this.#random.pick(type.getValues()).name;
    if (!isInputObjectType(type)) return this.#scalar(type.name);
    const fields = Object.values(type.getFields());
    // Of a choice exactly one is good.
    const given = type.isOneOf && this.#is(0.95) ? [this.#random.pick(fields)] : fields;
    const entries = given.flatMap((field) => {
      const isGiven = type.isOneOf || isNonNullType(field.type) || this.#is(0.4);
      return isGiven ? [[field.name, this.#value(field.type, depth + 1)] as const] : [];
    });
    if (this.#is(0.03)) entries.push([this.#is(0.5) ? 'unknown' : '__proto__', this.#strange()]);
    return Object.fromEntries(entries);
  }

  #scalar(name: string): unknown {
    const { ids, globalIds, cursors } = this.#world;
    switch (name) {
      case 'Int':
        return this.#is(0.8) ? 1 + this.#random.below(20) : this.#random.below(2_000) - 100;
      case 'Float':
        return this.#random.next() * 10;
      case 'Boolean':
        return this.#is(0.5);
      case 'ID':
        return this.#random.pick(globalIds);
      case 'DateTime':
        return this.#random.pick(TIMES);
      case 'JSON':
        return { a: [1, { b: this.#strange() }], c: this.#strange() };
      default:
        return this.#random.pick(this.#is(0.15) ? cursors : ids);
    }
  }

  /** One character is gone, doubled or another. */
  #spoilt(text: string): string {
    const at = this.#random.below(text.length);
    const by = this.#random.pick(['', '{', '}', '"', '$', '(', ')', '\u0000', '...', '#', '"""']);
    return text.slice(0, at) + by + text.slice(at + 1);
  }
}

/** A value as it stands in a document. */
function literal(value: unknown, type: GraphQLInputType): string {
  if (value === null || value === undefined) return 'null';
  const named = isNonNullType(type) ? type.ofType : type;
  if (Array.isArray(value)) {
    const item = isListType(named) ? named.ofType : named;
    return `[${value.map((entry) => literal(entry, item)).join(', ')}]`;
  }
  if (typeof value === 'object') {
    const fields = isInputObjectType(named) ? named.getFields() : {};
    const entries = Object.entries(value).map(
      ([name, inner]) => `${name}: ${literal(inner, fields[name]?.type ?? named)}`,
    );
    return `{ ${entries.join(', ')} }`;
  }
  return isEnumType(named) && typeof value === 'string' ? value : JSON.stringify(value);
}
