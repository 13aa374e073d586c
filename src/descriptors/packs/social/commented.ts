import { defineDescriptor } from '../../declare.ts';
import { field } from '../../field.ts';

export const commented = defineDescriptor('Commented', {
  description: 'Somebody commented on a post.',
  fields: {
    postId: field.ref('post', { description: 'The post commented on.', label: 'postTitle', asRef: false }),
    postTitle: field.text({ description: 'Title of the post.', optional: true }),
    commentId: field.id({ description: 'The comment.' }),
    text: field.text({ description: 'Text of the comment.', optional: true, shownAs: 'body' }),
  },
  group: ['postId'],
  summary: {
    en: ['{actor} commented on {postId}', '{actor} commented on a post'],
    de: ['{actor} hat {postId} kommentiert', '{actor} hat einen Beitrag kommentiert'],
  },
  groupSummary: {
    de: [
      '{actor} {subjects, plural, one {hat} other {haben}} {postId} kommentiert',
      '{actor} {subjects, plural, one {hat} other {haben}} einen Beitrag kommentiert',
    ],
  },
  activity: 'Create',
});
