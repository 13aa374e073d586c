import { defineDescriptor, nameField, refIdField, textField } from './define.ts';

export const commented = defineDescriptor({
  type: 'Commented',
  inputName: 'commented',
  description: 'Somebody commented on a post.',
  fields: {
    postId: refIdField('The post commented on.'),
    postTitle: nameField('postId', 'Title of the post.', { isOptional: true }),
    commentId: refIdField('The comment.'),
    text: textField('What the comment says.', { isOptional: true }),
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
});
