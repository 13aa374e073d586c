import { expect, test } from 'vitest';
import { defineDescriptor } from '../../src/descriptors/declare.ts';
import { field } from '../../src/descriptors/field.ts';
import { checkHostConfig, defineConfig } from '../../src/descriptors/host-config.ts';
import { useDescriptors } from '../../src/descriptors/registry.ts';
import { buildSchema } from '../../src/app/schema.ts';

const type = (name: string, fields = {}) =>
  defineDescriptor(name, { description: 'A type.', fields, summary: { en: '{actor}' } });

test('rejects all types whose names the API already has', async () => {
  const config = defineConfig({
    descriptors: [
      type('Follow'),
      type('Action'),
      type('Interaction', { state: field.enum(['ON']) }),
      type('Fine'),
    ],
  });
  useDescriptors(checkHostConfig(config, 'fanfare.config.ts'));
  const message = 'but that name is taken: choose another name';
  await expect(buildSchema()).rejects.toThrow(
    [
      'fanfare.config.ts has 3 faults:',
      `  Follow: It would be called FollowInput in the API, ${message}`,
      `  Action: It would be called ActionDescriptor in the API, ${message}`,
      `  Interaction.fields.state: It would be called InteractionState in the API, ${message}`,
    ].join('\n'),
  );
});
