import type { ModelAction } from './model.ts';

/** What an action of this type says: of others than these nothing that a phrase is looked for in. */
export function textOf(type: ModelAction['type'], text: string): string {
  return type === 'Custom' ? text : '';
}

/** A descriptor of this type, as it is given. */
export function descriptorFor(
  { type, tags, text, asked }: Pick<ModelAction, 'type' | 'tags' | 'text' | 'asked'>,
  id: (name: string) => string,
): object {
  if (type === 'Custom') return { custom: { verb: text, objectType: 'post', objectId: 'post-1', tags } };
  const applicant = { applicantId: id('applicant'), applicantName: 'A' };
  return type === 'NewApplicant'
    ? { newApplicant: { ...applicant, positionId: id('position'), positionName: 'P', tags } }
    : {
        applicantRatingRequested: {
          ...applicant,
          ...{ requestedFromId: asked, requestedFromName: 'R', tags },
        },
      };
}
