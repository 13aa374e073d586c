import { DEMO_USER } from '../../../src/cli/context.ts';
import type { FollowInput, MemberInput, RefInput } from '../../../src/core/shapes.ts';

/** The reader shown in the terminal: follows the story's refs and is mentioned in it. */
export const READER = DEMO_USER;

const engineering = { teamId: 'engineering', departmentId: 'product', supervisorId: 'sue' };
const recruiting = { teamId: 'recruiting', departmentId: 'people', supervisorId: 'rita' };
const design = { teamId: 'design', departmentId: 'product', supervisorId: 'sue' };

/** A dozen people whose feeds can be viewed. */
export const MEMBERS: readonly MemberInput[] = [
  { memberId: READER, name: 'Dana Demir', ...engineering },
  { memberId: 'john', name: 'John Doe', ...engineering },
  { memberId: 'sue', name: 'Sue Park', teamId: 'engineering', departmentId: 'product' },
  { memberId: 'rita', name: 'Rita Moreau', teamId: 'recruiting', departmentId: 'people' },
  { memberId: 'ada', name: 'Ada Nwosu', ...engineering },
  { memberId: 'ben', name: 'Ben Aoki', ...engineering },
  { memberId: 'carla', name: 'Carla Ruiz', ...recruiting },
  { memberId: 'dev', name: 'Dev Patel', ...recruiting },
  { memberId: 'eva', name: 'Eva Lind', ...design },
  { memberId: 'femi', name: 'Femi Bello', ...design },
  { memberId: 'greta', name: 'Greta Vogel', ...engineering },
  { memberId: 'hugo', name: 'Hugo Martin', ...recruiting },
];

export const POSITION = { positionId: 'position:senior-engineer', positionName: 'Senior Software Engineer' };

export interface Applicant {
  readonly applicantId: string;
  readonly applicantName: string;
}
export const MARY: Applicant = { applicantId: 'applicant:mary', applicantName: 'Mary Fanning' };
export const APPLICANTS: readonly Applicant[] = [
  { applicantId: 'applicant:noor', applicantName: 'Noor Haddad' },
  { applicantId: 'applicant:tom', applicantName: 'Tom Becker' },
  { applicantId: 'applicant:ines', applicantName: 'Inés Calvo' },
];

export interface Post {
  readonly postId: string;
  readonly postTitle: string;
}
export const POSTS: readonly Post[] = [
  { postId: 'post:interviews', postTitle: 'Interviews that tell us something' },
  { postId: 'post:move', postTitle: 'We move to the second floor' },
  { postId: 'post:release', postTitle: 'What is in the spring release' },
  { postId: 'post:lunch', postTitle: 'A lunch for everybody who is new' },
];

export const positionRef: RefInput = {
  id: POSITION.positionId,
  type: 'position',
  label: POSITION.positionName,
};

export function applicantRef({ applicantId, applicantName }: Applicant): RefInput {
  return { id: applicantId, type: 'applicant', label: applicantName };
}

export function postRef({ postId, postTitle }: Post): RefInput {
  return { id: postId, type: 'post', label: postTitle };
}

export const REFS: readonly RefInput[] = [
  positionRef,
  ...[MARY, ...APPLICANTS].map(applicantRef),
  ...POSTS.map(postRef),
];

/** The others follow some of the refs and people each, so that no two feeds are equal. */
function followsOf(memberId: string, at: number): FollowInput[] {
  if (memberId === READER) return REFS.map(({ id }) => ({ followerId: READER, refId: id }));
  const things = REFS.filter((_, index) => (index + at) % 3 !== 0).map(({ id }) => id);
  const people = MEMBERS.filter((_, index) => index !== at && (index + at) % 4 === 0).map(
    (member) => member.memberId,
  );
  return [...things, ...people].map((refId) => ({ followerId: memberId, refId }));
}

export const FOLLOWS: readonly FollowInput[] = MEMBERS.flatMap(({ memberId }, at) => followsOf(memberId, at));
