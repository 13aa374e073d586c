import type { DescriptorType } from './define.ts';
import { checkHostConfig, type CheckedHostConfig } from './host-config.ts';

/** What follows from the types of this process. */
interface Catalogue {
  readonly types: readonly DescriptorType[];
  readonly byType: ReadonlyMap<string, DescriptorType>;
  readonly byInputName: ReadonlyMap<string, DescriptorType>;
  readonly indexedFields: readonly string[];
  readonly source: string;
  /** The types as they are declared, to tell whether others are the same. */
  readonly print: string;
}

const DEFAULT_SOURCE = 'The default configuration';

let current: Catalogue | null = null;

/**
 * Takes the types of a configuration for this process, before anything asks for them. A process has one set of types: what
 * is stored, indexed and served by them must not depend on who asks.
 * @throws Error when it works with other types already.
 */
export function useDescriptors({ types, source }: Pick<CheckedHostConfig, 'types' | 'source'>): void {
  const next = catalogueOf(types, source);
  if (current !== null && current.print !== next.print)
    throw new Error(
      `${source} declares other types than those that this process works with already: run it in a process of its own`,
    );
  current ??= next;
}

/** Where the types of this process are declared, for messages. */
export function descriptorSource(): string {
  return catalogue().source;
}

/** Every type of this process, those of packs first. */
export function descriptorTypes(): readonly DescriptorType[] {
  return catalogue().types;
}

export function descriptorOfType(type: string): DescriptorType | undefined {
  return catalogue().byType.get(type);
}

export function descriptorOfInput(inputName: string): DescriptorType | undefined {
  return catalogue().byInputName.get(inputName);
}

/** Fields that are declared as indexed by any type: actions can be found by their values. */
export function indexedFields(): readonly string[] {
  return catalogue().indexedFields;
}

function catalogue(): Catalogue {
  return (current ??= catalogueOf(checkHostConfig({}, DEFAULT_SOURCE).types, DEFAULT_SOURCE));
}

function catalogueOf(types: readonly DescriptorType[], source: string): Catalogue {
  const fields = types.flatMap(({ fieldList }) => fieldList);
  return {
    ...{ types, source },
    byType: new Map(types.map((descriptor) => [descriptor.type, descriptor])),
    byInputName: new Map(types.map((descriptor) => [descriptor.inputName, descriptor])),
    indexedFields: [
      ...new Set(fields.flatMap(({ name, field }) => (field.kind === 'id' && field.isIndexed ? [name] : []))),
    ],
    print: JSON.stringify(types),
  };
}
