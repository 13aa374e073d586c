import type { TestApp } from './app.ts';
import { ask, upsert } from './feed-api.ts';

// Mary Fanning applies, is rated and is hired; told through the public API alone.

export const MARY = { applicantId: 'applicant:mary', applicantName: 'Mary Fanning' };
export const POSITION = { positionId: 'position:engineer', positionName: 'Senior Software Engineer' };
export const REFS = [
  { id: MARY.applicantId, type: 'applicant', label: MARY.applicantName },
  { id: POSITION.positionId, type: 'position', label: POSITION.positionName },
];
export const day = (n: number): string => `2026-03-0${String(n)}T09:00:00.000Z`;

export const APPLIED = 'Mary Fanning applied for Senior Software Engineer';
export const REQUESTED = 'Sue Park asked John Doe to rate Mary Fanning';
export const RATED = 'John Doe rated Mary Fanning 4.5 for Senior Software Engineer';
export const NOTED = 'Rita Moreau noted salary Mary Fanning';
export const HIRED = 'Sue Park hired Mary Fanning as Senior Software Engineer';

export const RATING = {
  ...{ raterId: 'john', raterName: 'John Doe', ...MARY, ...POSITION, ratingScore: 4.5 },
  ratingText: "Really great candidate, but didn't eat the fortune cookie!",
  tags: ['skilled', 'friendly', 'no-cookie'],
};
export const REQUEST = { ...MARY, requestedFromId: 'john', requestedFromName: 'John Doe' };
export const NOTE = {
  ...{ verb: 'noted', objectType: 'salary', objectId: MARY.applicantId, targetId: POSITION.positionId },
  ...{ data: { amount: 65_000, currency: 'EUR' }, tags: ['confidential'] },
};

/** Who does it, for whom, and what. */
const STEPS: readonly (readonly [actor: string, scope: string, descriptor: object, more?: object])[] = [
  ['rita', 'PUBLIC', { newApplicant: { ...MARY, ...POSITION } }],
  ['sue', 'TEAM', { applicantRatingRequested: REQUEST }, { mentions: ['john'] }],
  ['john', 'FOLLOWERS', { applicationRating: RATING }],
  ['rita', 'RESTRICTED', { custom: NOTE }, { recipients: ['sue'] }],
  ['sue', 'DEPARTMENT', { applicantHired: { ...MARY, ...POSITION } }, { mentions: ['rita'] }],
];

/** Describes everybody and everything, and tells the story from its beginning. */
export async function tellStory(app: TestApp): Promise<void> {
  const product = { departmentId: 'product' };
  await upsert(app, {
    members: [
      { memberId: 'john', name: 'John Doe', teamId: 'engineering', ...product, supervisorId: 'sue' },
      { memberId: 'sue', name: 'Sue Park', teamId: 'engineering', ...product },
      { memberId: 'paul', name: 'Paul Ito', teamId: 'design', ...product, supervisorId: 'sue' },
      { memberId: 'rita', name: 'Rita Moreau', teamId: 'recruiting', departmentId: 'people' },
    ],
    refs: REFS,
    pairs: [
      { followerId: 'sue', refId: MARY.applicantId },
      { followerId: 'rita', refId: POSITION.positionId },
      { followerId: 'rita', refId: 'john' },
    ],
  });
  await playStory(app);
  await app.idle();
}

/** Publishes the steps, each as the member who takes it. Says of each whether it was known. */
export async function playStory(app: TestApp): Promise<boolean[]> {
  const known: boolean[] = [];
  for (const [n, [actor, scope, descriptor, more]] of STEPS.entries()) {
    const { publishAction } = await ask<{ publishAction: { isReplay: boolean } }>(
      app,
      'mutation ($input: PublishActionInput!) { publishAction(input: $input) { isReplay } }',
      {
        input: {
          ...{ idempotencyKey: `story-${String(n)}`, conducted: day(n + 1), scope, refs: REFS, descriptor },
          ...more,
        },
      },
      { sub: actor },
    );
    known.push(publishAction.isReplay);
  }
  return known;
}
