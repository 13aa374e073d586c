import { defineDescriptor } from '../../declare.ts';
import { field } from '../../field.ts';

export const posted = defineDescriptor('Posted', {
  description: 'Somebody posted something.',
  fields: {
    postId: field.ref('post', { description: 'The post.', label: 'postTitle', asRef: false }),
    postTitle: field.text({ description: 'Title of the post.', optional: true }),
    text: field.text({ description: 'Text of the post.', optional: true, shownAs: 'body' }),
    media: field.media({ description: 'Pictures and files of the post.', optional: true }),
  },
  summary: {
    en: ['{actor} posted {postId}', '{actor} posted something'],
    de: ['{actor} hat {postId} veröffentlicht', '{actor} hat etwas veröffentlicht'],
  },
  activity: 'Create',
});
