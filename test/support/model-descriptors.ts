import type { ModelAction } from './model.ts';

/** A descriptor of this type, as it is given. */
export function descriptorFor(
  type: ModelAction['type'],
  id: (name: string) => string,
  tags: readonly string[],
): object {
  const named = {
    applicantId: id('applicant'),
    applicantName: 'A',
    positionId: id('position'),
    positionName: 'P',
  };
  const custom = { verb: 'posted', objectType: 'post', objectId: 'post-1' };
  return type === 'Custom' ? { custom: { ...custom, tags } } : { newApplicant: { ...named, tags } };
}
