import { defineConfig, defineDescriptor, field } from '@fanfare/server';

// The types of actions in your application: replace this one by your own. Each becomes part of the GraphQL schema (npm run schema).
// How to declare types: node_modules/@fanfare/server/docs/descriptors.md
export default defineConfig({
  packs: [],
  descriptors: [
    defineDescriptor('TaskFinished', {
      description: 'Somebody finished a task.',
      fields: {
        projectId: field.ref('project', { label: 'projectName', indexed: true }),
        projectName: field.text(),
        title: field.text({ max: 200 }),
        hours: field.float({ min: 0, optional: true }),
      },
      summary: {
        en: '{actor} finished {title} in {projectId}',
        de: '{actor} hat {title} in {projectId} abgeschlossen',
      },
    }),
  ],
});
