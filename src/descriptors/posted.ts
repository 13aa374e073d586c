import { defineDescriptor, nameField, refIdField, textField } from './define.ts';

export const posted = defineDescriptor({
  type: 'Posted',
  inputName: 'posted',
  description: 'Somebody posted something.',
  fields: {
    postId: refIdField('The post.'),
    postTitle: nameField('postId', 'Title of the post.', { isOptional: true }),
    text: textField('What the post says.', { isOptional: true }),
  },
  summary: {
    en: ['{actor} posted {postId}', '{actor} posted something'],
    de: ['{actor} hat {postId} veröffentlicht', '{actor} hat etwas veröffentlicht'],
  },
});
