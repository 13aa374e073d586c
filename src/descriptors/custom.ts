import { defineDescriptor, jsonField, refIdField, textField } from './define.ts';

/** Most bytes of free data, as JSON. */
const MAX_DATA_BYTES = 16 * 1024;

export const custom = defineDescriptor({
  type: 'Custom',
  inputName: 'custom',
  description: 'Anything else: a verb with an object, an optional target and free data (at most 16 KiB).',
  fields: {
    verb: textField('What was done, such as "posted".', { minLength: 1, maxLength: 64 }),
    objectType: textField('What kind of thing it was done to, such as "post".', {
      minLength: 1,
      maxLength: 64,
    }),
    objectId: refIdField('The thing it was done to.'),
    targetId: refIdField('What the object belongs to or was done for.', { isOptional: true }),
    data: jsonField('Free data of the application.', MAX_DATA_BYTES),
  },
  group: ['verb', 'objectType', 'objectId', 'targetId'],
  summary: {
    en: '{actor} {verb} {objectType} {objectId}',
    de: '{actor} {verb} {objectType} {objectId}',
  },
});
