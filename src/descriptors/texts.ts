import type { ActionTexts } from '../domain/action.ts';
import { descriptorOfType } from './registry.ts';

/**
 * All words of an action as stored: texts and names of the descriptor and labels of its refs. Excludes tags, ids and free
 * data. For unregistered types only the labels.
 */
export function textsOf({ descriptor, refs }: ActionTexts): string[] {
  const fields = descriptorOfType(descriptor.type)?.fieldList ?? [];
  const said = fields.flatMap(({ name, field }) => {
    const value = field.kind === 'text' || field.kind === 'nameOf' ? descriptor[name] : undefined;
    return typeof value === 'string' ? [value] : [];
  });
  return [...said, ...refs.map(({ label }) => label)];
}
