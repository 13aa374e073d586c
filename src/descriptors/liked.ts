import { defineDescriptor, nameField, refIdField, textField } from './define.ts';

export const liked = defineDescriptor({
  type: 'Liked',
  inputName: 'liked',
  description: 'Somebody liked something.',
  fields: {
    objectType: textField('What kind of thing was liked, such as "post".', { minLength: 1, maxLength: 64 }),
    objectId: refIdField('What was liked.'),
    objectName: nameField('objectId', 'Name of what was liked.', { isOptional: true }),
  },
  group: ['objectType', 'objectId'],
  summary: {
    en: ['{actor} liked {objectType} {objectId}', '{actor} liked {objectType}'],
    de: ['{actor} gefällt {objectType} {objectId}', '{actor} gefällt {objectType}'],
  },
});
