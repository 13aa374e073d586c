import type { PublishActionInput } from '@fanfare/client';

type Kind = (n: number) => Pick<PublishActionInput, 'descriptor' | 'refs'>;

const APPLICANTS = ['Mary Fanning', 'Noor Haddad', 'Tom Becker', 'Inés Calvo', 'Lena Horn'];
const POSTS = ['Interviews that tell us something', 'We move to the second floor', 'A lunch for all'];
const ROOMS = ['Kestrel', 'Heron', 'Wren'];
const POSITION = { positionId: 'position:senior-engineer', positionName: 'Senior Software Engineer' };

const idOf = (name: string): string => name.split(' ')[0]?.toLowerCase() ?? name;
const applicantOf = (n: number): { applicantId: string; applicantName: string } => {
  const applicantName = APPLICANTS[n % APPLICANTS.length] ?? '';
  return { applicantId: `applicant:${idOf(applicantName)}`, applicantName };
};
const postOf = (n: number): { postId: string; postTitle: string } => {
  const postTitle = POSTS[n % POSTS.length] ?? '';
  return { postId: `post:${idOf(postTitle)}`, postTitle };
};

/** What can be published by one click, by its name: types of the packs, and one without a type of its own. */
export const KINDS: Readonly<Record<string, Kind>> = {
  'An application': (n) => ({ descriptor: { newApplicant: { ...applicantOf(n), ...POSITION } } }),
  'A rating': (n) => ({
    descriptor: {
      applicationRating: {
        ...applicantOf(n),
        ...POSITION,
        ...{ raterId: 'john', raterName: 'John Doe', ratingScore: 3 + (n % 5) / 2 },
        ...{ ratingText: 'Asked better questions than we did.', tags: ['skilled'] },
      },
    },
  }),
  'A hire': (n) => ({ descriptor: { applicantHired: { ...applicantOf(n), ...POSITION } } }),
  'A post': (n) => ({ descriptor: { posted: postOf(n) } }),
  'A comment': (n) => ({ descriptor: { commented: { ...postOf(n), commentId: `comment:${String(n)}` } } }),
  'Your own': (n) => ({
    descriptor: { custom: { verb: 'booked', objectType: 'room', objectId: ROOMS[n % ROOMS.length] } },
  }),
};
