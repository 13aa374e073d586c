import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';
import type { SeededRandom } from './seeded-random.ts';

const MAX_LENGTH = 8 * 1_024;
const MAX_DEPTH = 9;
const MAX_REPEATS = 40;

/** Makes queries that ask for as much as they can: largest pages, fields many times, selections shared as fragments. */
export class CostlyDocuments {
  readonly #schema: GraphQLSchema;
  readonly #random: SeededRandom;
  /** Of arguments, by name, as they stand in a document. */
  readonly #values: Readonly<Record<string, string>>;
  #fragments: string[] = [];
  #aliases = 0;

  constructor(schema: GraphQLSchema, random: SeededRandom, values: Readonly<Record<string, string>>) {
    this.#schema = schema;
    this.#random = random;
    this.#values = values;
  }

  /** At most 8 KiB. */
  next(): string {
    for (;;) {
      this.#fragments = [];
      this.#aliases = 0;
      const query = this.#schema.getQueryType();
      if (query == null) throw new Error('The schema has no queries');
      const text = [`{ ${this.#fields(query, 0)} }`, ...this.#fragments].join(' ');
      if (text.length <= MAX_LENGTH) return text;
    }
  }

  #is(chance: number): boolean {
    return this.#random.next() < chance;
  }

  #fields(type: GraphQLNamedType, depth: number): string {
    if (isInterfaceType(type) && this.#is(0.8)) {
      const member = this.#random.pick(this.#schema.getPossibleTypes(type));
      return `__typename ... on ${member.name} { ${this.#fields(member, depth)} }`;
    }
    if (!isObjectType(type) && !isInterfaceType(type)) return '__typename';
    const possible = Object.values(type.getFields()).filter((field) => this.#canAsk(field, depth));
    const large = possible.filter(leadsOn);
    const plain = possible.filter((field) => !leadsOn(field));
    const picked = [
      ...Array.from({ length: 1 + this.#random.below(2) }, () => this.#random.pick([...large, null])),
      ...plain.filter(() => this.#is(0.3)),
    ];
    const texts = [...new Set(picked)].map((field) =>
      field === null ? '__typename' : this.#field(field, depth),
    );
    return texts.join(' ');
  }

  /** Once, or many times under names of their own. */
  #field(field: GraphQLField<unknown, unknown>, depth: number): string {
    const type = getNamedType(field.type);
    const args = field.args.flatMap(({ name }) => {
      const value = this.#values[name];
      return value === undefined ? [] : [`${name}: ${value}`];
    });
    const below = isCompositeType(type) ? ` { ${this.#shared(type, depth)} }` : '';
    const call = `${field.name}${args.length === 0 ? '' : `(${args.join(', ')})`}${this.#is(0.05) ? ' @include(if: true)' : ''}${below}`;
    const repeats = this.#is(0.4) ? 1 + this.#random.below(below === '' ? MAX_REPEATS : 4) : 1;
    return Array.from({ length: repeats }, () => `a${String((this.#aliases += 1))}: ${call}`).join(' ');
  }

  #shared(type: GraphQLNamedType, depth: number): string {
    const fields = this.#fields(type, depth + 1);
    if (!this.#is(0.3)) return fields;
    const name = `F${String(this.#fragments.length)}`;
    this.#fragments.push(`fragment ${name} on ${type.name} { ${fields} }`);
    return `...${name}`;
  }

  #canAsk(field: GraphQLField<unknown, unknown>, depth: number): boolean {
    const hasArguments = field.args.every(
      ({ name, type, defaultValue }) =>
        !isNonNullType(type) || defaultValue !== undefined || this.#values[name] !== undefined,
    );
    return hasArguments && (depth < MAX_DEPTH || !isCompositeType(getNamedType(field.type)));
  }
}

/** Whether a field is, or may have below it, a list, or is free JSON. */
function leadsOn(field: GraphQLField<unknown, unknown>): boolean {
  const named = getNamedType(field.type);
  return isListType(getNullableType(field.type)) || isCompositeType(named) || named.name === 'JSON';
}
