import type { FollowInput, MemberInput, PublishActionInput, RefInput } from '../../services/shapes.ts';

/** Who watches: follows the story's people and things, and is mentioned in it. */
export const READER = 'demo';

export const MEMBERS: readonly MemberInput[] = [
  { memberId: READER, name: 'You', teamId: 'engineering', departmentId: 'product', supervisorId: 'sue' },
  { memberId: 'john', name: 'John Doe', teamId: 'engineering', departmentId: 'product', supervisorId: 'sue' },
  { memberId: 'sue', name: 'Sue Park', teamId: 'engineering', departmentId: 'product' },
  { memberId: 'rita', name: 'Rita Moreau', teamId: 'recruiting', departmentId: 'people' },
];

const POSITION = { positionId: 'position:senior-engineer', positionName: 'Senior Software Engineer' };
const MARY = { applicantId: 'applicant:mary', applicantName: 'Mary Fanning' };
const APPLICANTS = [
  { applicantId: 'applicant:noor', applicantName: 'Noor Haddad' },
  { applicantId: 'applicant:tom', applicantName: 'Tom Becker' },
  { applicantId: 'applicant:ines', applicantName: 'Inés Calvo' },
];
type Applicant = (typeof APPLICANTS)[number];

const positionRef: RefInput = { id: POSITION.positionId, type: 'position', label: POSITION.positionName };

function applicantRef({ applicantId, applicantName }: Applicant): RefInput {
  return { id: applicantId, type: 'applicant', label: applicantName };
}

export const REFS: readonly RefInput[] = [positionRef, ...[MARY, ...APPLICANTS].map(applicantRef)];

export const FOLLOWS: readonly FollowInput[] = REFS.map(({ id }) => ({ followerId: READER, refId: id }));

type Step = Pick<PublishActionInput, 'actorId' | 'scope' | 'mentions' | 'descriptor'>;

/** What happens to an applicant, from the application to the hire. */
function steps(applicant: Applicant, score: number): readonly Step[] {
  return [
    { actorId: 'rita', scope: 'PUBLIC', descriptor: { newApplicant: { ...applicant, ...POSITION } } },
    {
      actorId: 'sue',
      scope: 'TEAM',
      mentions: [READER],
      descriptor: {
        applicantRatingRequested: { ...applicant, requestedFromId: 'john', requestedFromName: 'John Doe' },
      },
    },
    {
      actorId: 'john',
      scope: 'FOLLOWERS',
      descriptor: {
        applicationRating: {
          ...applicant,
          ...POSITION,
          raterId: 'john',
          raterName: 'John Doe',
          ratingScore: score,
          ratingText: 'Asked better questions than we did.',
          tags: ['skilled', 'friendly'],
        },
      },
    },
    {
      actorId: 'rita',
      scope: 'FOLLOWERS',
      descriptor: {
        custom: {
          verb: 'invited',
          objectType: 'applicant',
          objectId: applicant.applicantId,
          data: { room: 'Kestrel' },
        },
      },
    },
    { actorId: 'sue', scope: 'PUBLIC', descriptor: { applicantHired: { ...applicant, ...POSITION } } },
  ];
}

function action(step: Step, applicant: Applicant, idempotencyKey: string): PublishActionInput {
  return { ...step, idempotencyKey, refs: [applicantRef(applicant), positionRef] };
}

/** What has happened already. Playing it again records nothing twice. */
export function story(): PublishActionInput[] {
  return steps(MARY, 4.5).map((step, index) => action(step, MARY, `demo:story:${String(index)}`));
}

/** The `n`-th thing that happens while somebody watches. @param run tells one playing from another. */
export function liveAction(run: string, n: number): PublishActionInput {
  const round = APPLICANTS.length;
  const applicant = APPLICANTS[n % round] ?? MARY;
  const all = steps(applicant, 2.5 + (n % 6) / 2);
  const step = all[Math.floor(n / round) % all.length] ?? { descriptor: {} };
  return action(step, applicant, `demo:${run}:${String(n)}`);
}
