import { readFileSync } from 'node:fs';
import { buildSchema, isRequiredArgument, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import {
  MUTATION_ARGUMENTS,
  type RecordInteractionInput,
} from '../../../packages/client/src/generated/mutation-inputs.ts';
import { MUTATION_NAMES, mutationsOf } from '../../../packages/client/src/mutations.ts';
import { clientInputs, readerMutations } from '../../../schema/client-inputs.ts';
import { SCHEMA_FILE } from '../../../schema/print.ts';

const printed = readFileSync(SCHEMA_FILE, 'utf8');
const schema = buildSchema(printed);
const mutations = schema.getMutationType()?.getFields() ?? {};

test('the client has every mutation of the schema that a reader calls', () => {
  expect([...MUTATION_NAMES].sort()).toEqual(readerMutations(schema).sort());
});

test.each(MUTATION_NAMES)('%s takes every argument that the schema has', (name) => {
  const args = mutations[name]?.args ?? [];
  expect(MUTATION_ARGUMENTS[name]).toEqual(
    Object.fromEntries(args.map((one) => [one.name, String(one.type)])),
  );
  const optional = args.filter((one) => !isRequiredArgument(one)).length;
  const documents = mutationsOf(name);
  expect(documents).toHaveLength(2 ** optional);
  for (const document of documents) expect(validate(schema, parse(document))).toEqual([]);
});

test('a field that the schema gains is in the input of the client', () => {
  const more = printed.replace('input RecordInteractionInput {', '$&\n  """Where."""\n  place: [String!]!\n');
  expect(clientInputs(more)).toContain('/** Where. */\n    readonly place: readonly string[];');
  expect(clientInputs(printed)).toBe(
    readFileSync(
      new URL('../../../packages/client/src/generated/mutation-inputs.ts', import.meta.url),
      'utf8',
    ),
  );
  const comment: RecordInteractionInput = { actionId: 'a', kind: 'COMMENT', text: 'Hi', mentions: ['ada'] };
  expect(comment.mentions).toEqual(['ada']);
});
