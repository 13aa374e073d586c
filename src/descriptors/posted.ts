import { defineDescriptor, nameField, refIdField, text, textField } from './define.ts';

export const posted = defineDescriptor({
  type: 'Posted',
  inputName: 'posted',
  description: 'Somebody posted something.',
  fields: {
    postId: refIdField('The post.'),
    postTitle: nameField('postId', 'Title of the post.', { isOptional: true }),
    text: textField('What the post says.', { isOptional: true }),
  },
  summary: (values) => `posted ${text(values, 'postTitle') || 'something'}`,
});
