import type { PublishActionInput } from '../../../src/core/shapes.ts';
import {
  APPLICANTS,
  applicantRef,
  MARY,
  MEMBERS,
  POSITION,
  positionRef,
  postRef,
  POSTS,
  READER,
  type Applicant,
} from './people.ts';

type Step = Pick<PublishActionInput, 'actorId' | 'scope' | 'mentions' | 'refs' | 'descriptor'>;

function recruitingSteps(applicant: Applicant, score: number): readonly Step[] {
  const rater = { raterId: 'john', raterName: 'John Doe', ratingScore: score };
  const refs = [applicantRef(applicant), positionRef];
  const steps: readonly Step[] = [
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
          ...rater,
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
  return steps.map((step) => ({ ...step, refs }));
}

const member = (n: number): (typeof MEMBERS)[number] =>
  MEMBERS[1 + (n % (MEMBERS.length - 1))] ?? { memberId: READER, name: READER };

/** Activity around a post: one member writes it, others like it, comment on it and follow its author. */
function socialSteps(n: number): readonly Step[] {
  const post = POSTS[n % POSTS.length] ?? { postId: 'post', postTitle: 'A post' };
  const author = member(n);
  const refs = [postRef(post)];
  const object = { objectType: 'post', objectId: post.postId, objectName: post.postTitle };
  const text = 'This is worth a minute of your time.';
  return [
    { actorId: author.memberId, scope: 'PUBLIC', refs, descriptor: { posted: { ...post, text } } },
    { actorId: member(n + 3).memberId, scope: 'FOLLOWERS', refs, descriptor: { liked: object } },
    {
      actorId: member(n + 5).memberId,
      scope: 'FOLLOWERS',
      mentions: [author.memberId],
      refs,
      descriptor: {
        commented: {
          ...post,
          commentId: `comment:${post.postId}:${String(n)}`,
          text: 'Thank you for writing this down.',
        },
      },
    },
    {
      actorId: member(n + 7).memberId,
      scope: 'FOLLOWERS',
      refs,
      descriptor: { followed: { followedId: author.memberId, followedName: author.name } },
    },
  ];
}

/** Past actions. Playing them again records nothing twice. */
export function story(): PublishActionInput[] {
  return recruitingSteps(MARY, 4.5).map((step, index) => ({
    ...step,
    idempotencyKey: `demo:story:${String(index)}`,
  }));
}

/** The `n`-th live action, alternating between recruiting and posts. */
export function liveAction(run: string, n: number): PublishActionInput {
  const idempotencyKey = `demo:${run}:${String(n)}`;
  return { ...(n % 2 === 0 ? recruitingStep(n / 2) : socialStep((n - 1) / 2)), idempotencyKey };
}

function recruitingStep(n: number): Step {
  const round = APPLICANTS.length;
  const all = recruitingSteps(APPLICANTS[n % round] ?? MARY, 2.5 + (n % 6) / 2);
  return all[Math.floor(n / round) % all.length] ?? { descriptor: {} };
}

function socialStep(n: number): Step {
  const all = socialSteps(Math.floor(n / 4));
  return all[n % all.length] ?? { descriptor: {} };
}
