import { chmod } from 'node:fs/promises';
import { basename } from 'node:path';
import type { CommandContext } from '../../../src/app/command-shapes.ts';
import { CommandError } from '../../../src/cli/context.ts';
import type { DescriptorField, DescriptorType } from '../../../src/descriptors/define.ts';
import { descriptorTypes } from '../../../src/descriptors/registry.ts';
import { NewFile } from '../../../src/lib/own-file.ts';
import { objectName } from '../../../src/features/actions/api/descriptor.ts';

const HEAD =
  '// Written by `fanfare schema --types`, from the declared types of actions. A change here is lost.\n';
const MEDIA = "\nimport type { Media, MediaInput } from '@fanfare/client';\n";
const DECLARATIONS = '.d.ts';

/** Writes what a frontend knows of the types: their TypeScript, and beside it the module with what it selects of them. */
export async function writeOwnTypes({ terminal }: CommandContext, file: string): Promise<void> {
  if (!file.endsWith(DECLARATIONS))
    throw new CommandError(`Types are written to a file such as src/fanfare${DECLARATIONS}, not ${file}`);
  const module = `${file.slice(0, -DECLARATIONS.length)}.js`;
  const { declarations, code } = ownTypes(descriptorTypes());
  for (const [path, text] of [
    [file, declarations],
    [module, code],
  ] as const) {
    const written = new NewFile(path);
    await written.write(text);
    // A source as any other: nothing in it is a secret.
    await chmod(written.draft, 0o644);
    await written.complete();
  }
  terminal.out(
    `Wrote ${file} and ${module}: give \`fields\` of ./${basename(module)} to the provider or the client`,
  );
}

/** @returns the text of both files */
export function ownTypes(types: readonly DescriptorType[]): {
  readonly declarations: string;
  readonly code: string;
} {
  const nameOf = responseNames(types);
  const declared = types.map((type) => declarationOf(type, nameOf)).join('\n');
  const selected = types.map(
    (type) =>
      `  ... on ${objectName(type.type)} { ${type.fieldList.map(({ name, field }) => selectionOf(nameOf(type, name), name, field)).join(' ')} }`,
  );
  const isShown = types.some(({ content }) => content.media !== null);
  return {
    declarations: `${HEAD}${isShown ? MEDIA : ''}
declare module '@fanfare/client' {
  interface FanfareTypes {
${declared}
  }
}

/** What the types above have. For \`fields\` of the provider or the client. */
export declare const fields: { readonly action: string };
`,
    code: `${HEAD}
export const fields = {
  action: \`descriptor { type summary
${selected.filter((line) => !line.endsWith('{  }')).join('\n')}
  }\`,
};
`,
  };
}

type NameOf = (type: DescriptorType, field: string) => string;

/**
 * An answer has one type for each name in it: fields of one name that differ in type, or in whether they may be left out,
 * get the name of their type as well.
 */
function responseNames(types: readonly DescriptorType[]): NameOf {
  const kinds = new Map<string, Set<string>>();
  for (const { type, fieldList } of types)
    for (const { name, field } of fieldList)
      kinds.set(name, (kinds.get(name) ?? new Set()).add(kindOf(type, name, field)));
  return ({ type }, field) => ((kinds.get(field)?.size ?? 0) > 1 ? `${field}Of${type}` : field);
}

/** Equal where the API has the same type. */
function kindOf(type: string, name: string, field: DescriptorField): string {
  const isNull = isNullable(field) ? '?' : '!';
  if (field.kind === 'enum') return `${type}.${name}${isNull}`;
  if (field.kind === 'number') return `${field.isInteger ? 'whole' : 'number'}${isNull}`;
  return `${field.kind === 'dateTime' ? 'time' : valueOf(field)}${isNull}`;
}

function isNullable(field: DescriptorField): boolean {
  return field.isOptional && field.kind !== 'json';
}

function selectionOf(shown: string, name: string, { kind }: DescriptorField): string {
  const selected = kind === 'media' ? `${name} { url alt kind width height blurhash }` : name;
  return shown === name ? selected : `${shown}: ${selected}`;
}

function declarationOf(type: DescriptorType, nameOf: NameOf): string {
  const { type: name, inputName, description, fieldList } = type;
  const read = fieldList.map(
    (one) =>
      `${comment(one.field.description, 8)}        readonly ${nameOf(type, one.name)}: ${valueOf(one.field)}${isNullable(one.field) ? ' | null' : ''};`,
  );
  const given = fieldList.map(
    (one) =>
      `          readonly ${one.name}${one.field.isOptional ? '?' : ''}: ${one.field.kind === 'media' ? 'readonly MediaInput[]' : valueOf(one.field)}${one.field.isOptional && one.field.kind !== 'json' ? ' | null' : ''};`,
  );
  return `${comment(description, 4)}    ${name}: {
      readonly fields: {
${read.join('\n')}
      };
      readonly input: {
        readonly ${inputName}: {
${given.join('\n')}
          readonly tags?: readonly string[] | null;
        };
      };
    };`;
}

function comment(text: string, indent: number): string {
  return `${' '.repeat(indent)}/** ${text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ')} */\n`;
}

/** As JSON has it. */
function valueOf(field: DescriptorField): string {
  switch (field.kind) {
    case 'json':
      return 'unknown';
    case 'media':
      return 'readonly Media[]';
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'enum':
      return field.values.map((value) => `'${value}'`).join(' | ');
    case 'dateTime':
    case 'id':
    case 'nameOf':
    case 'text':
      return 'string';
  }
}
