import type { Action } from '../domain/action.ts';
import { descriptorOfType } from './registry.ts';

/**
 * What an action says in words, as it is stored: the texts and names of its descriptor and the labels of its refs. Neither
 * tags, ids nor free data; of a type that nobody declares the labels alone.
 */
export function textsOf({ descriptor, refs }: Pick<Action, 'descriptor' | 'refs'>): string[] {
  const fields = descriptorOfType(descriptor.type)?.fieldList ?? [];
  const said = fields.flatMap(({ name, field }) => {
    const value = field.kind === 'text' || field.kind === 'nameOf' ? descriptor[name] : undefined;
    return typeof value === 'string' ? [value] : [];
  });
  return [...said, ...refs.map(({ label }) => label)];
}
