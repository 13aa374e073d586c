import { defineDescriptor } from '../../src/descriptors/declare.ts';
import { field } from '../../src/descriptors/field.ts';
import { checkHostConfig, defineConfig } from '../../src/descriptors/host-config.ts';
import { useDescriptors } from '../../src/descriptors/registry.ts';

/** What libraries, JavaScript, GraphQL or a database take for more than a name. They are names in GraphQL, too. */
export const PROTOCOL_NAMES = [
  ...['then', 'catch', 'finally', 'toJSON', 'toBSON', 'toString', 'valueOf', 'asymmetricMatch', 'next'],
  ...['constructor', 'prototype', 'hasOwnProperty', 'length', 'size', 'nodeType', 'stringify', 'kind'],
  ...['data', 'errors', 'extensions', 'message', 'type', 'id', '_id', 'value', 'text'],
];
/** The same for properties of JSON, which are no names in GraphQL. */
const ODD_NAMES = ['', ' ', '.', 'a.b', '.a', 'a$', 'a.$', '0', '-1', 'é', '__typename', '\u2028', '\u001f'];

/** Free JSON that is carried unchanged: 3 KiB, so that every field takes it. */
export const CARRIED: Readonly<Record<string, unknown>> = {
  arrayLike: { length: 1e9, 0: 'a' },
  deep: [[[[[[[[[[[['deep']]]]]]]]]]]],
  none: [null, {}, [], '', 0, -1.5, 2 ** 53, false],
  texts: ['$actorId', '$$ROOT', '$', '__proto__', '_bsontype', 'then'],
  promise: { then: { then: [] }, catch: {}, finally: {} },
  ...Object.fromEntries(
    [...PROTOCOL_NAMES, ...ODD_NAMES].map((name) => [
      name,
      [name, { [name]: 1 }, [{ [name]: { [name]: null } }]],
    ]),
  ),
};

/** JSON that is refused, as text, with the path to its fault. */
export const REFUSED: readonly (readonly [json: string, path: readonly (string | number)[]])[] = [
  ['{"_bsontype":"Long"}', []],
  ['{"a":[{"_bsontype":null}]}', ['a', 0]],
  ['{"a":{"b":{"$where":"1"}}}', ['a', 'b']],
  ['{"__proto__":{"then":1}}', []],
  ['{"a":{"b\\u0000":1}}', ['a']],
  ['{"a":["\\ud800"]}', ['a', 0]],
  [`${'['.repeat(18)}${']'.repeat(18)}`, Array<number>(17).fill(0)],
];

const config = defineConfig({
  packs: ['social'],
  descriptors: [
    defineDescriptor('Then', {
      description: 'A type named like a protocol, with fields that are named so, too.',
      fields: {
        then: field.text(),
        catch: field.int(),
        toJSON: field.json(),
        toBSON: field.id({ label: 'length', indexed: true }),
        length: field.text(),
        finally: field.enum(['then', 'constructor', 'toString']),
        next: field.dateTime({ optional: true }),
      },
      group: ['then'],
      summary: { en: '{actor} {then, select, then {did} other {said}} {toBSON}' },
    }),
  ],
});

/** Makes these the types of this process; to be called before anything asks for one. */
export function useProtocolNames(): void {
  useDescriptors(checkHostConfig(config, 'test/support/protocol-names.ts'));
}

export const THEN = {
  ...{ then: 'constructor', catch: 1, toJSON: CARRIED, toBSON: 'then', length: 'toString' },
  ...{ finally: 'constructor', next: '2024-01-31T12:00:00.000Z' },
};
