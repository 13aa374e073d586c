import type { PublishActionInput } from '../../src/core/shapes.ts';

/** A rating as an application of the kind Fanfare is for would publish it. */
export function ratingInput(
  index: number,
  refs: readonly { readonly id: string }[],
  more: Partial<PublishActionInput> = {},
): PublishActionInput {
  const applicant = `applicant-${String(index % 97)}`;
  return {
    actorId: `actor-${String(index % 53)}`,
    refs: [
      ...refs.map(({ id }) => ({ id, type: 'site', label: `Site ${id}` })),
      { id: applicant, type: 'applicant', label: `Applicant ${applicant}` },
    ],
    descriptor: {
      applicationRating: {
        raterId: `actor-${String(index % 53)}`,
        raterName: `Rater ${String(index % 53)}`,
        applicantId: applicant,
        applicantName: `Applicant ${applicant}`,
        positionId: `position-${String(index % 31)}`,
        positionName: `Position ${String(index % 31)}`,
        ratingScore: index % 100,
        ratingText: 'Answers clearly, knows the tools and asks the right questions.',
        tags: ['rating'],
      },
    },
    ...more,
  };
}
