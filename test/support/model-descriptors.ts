import type { ModelAction } from './model.ts';

/** What an action of this type says: of others than these nothing that a phrase is looked for in. */
export function textOf(type: ModelAction['type'], text: string): string {
  return type === 'Custom' ? text : '';
}

/** A descriptor of this type, as it is given. */
export function descriptorFor(
  type: ModelAction['type'],
  id: (name: string) => string,
  tags: readonly string[],
  text: string,
): object {
  const named = {
    applicantId: id('applicant'),
    applicantName: 'A',
    positionId: id('position'),
    positionName: 'P',
  };
  const custom = { verb: text, objectType: 'post', objectId: 'post-1' };
  return type === 'Custom' ? { custom: { ...custom, tags } } : { newApplicant: { ...named, tags } };
}
