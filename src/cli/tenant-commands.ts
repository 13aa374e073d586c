import type { Command } from 'commander';
import type { CommandContext } from './context.ts';
import type { EraseTenantOptions, ExportTenantOptions } from './tenants.ts';

export function addTenantCommands(program: Command, context: () => CommandContext): void {
  const tenant = program
    .command('tenant')
    .description('list, export or erase whole tenants, or make a database without tenants that of one');
  tenant
    .command('list')
    .description('list the tenants of which anything is stored, with their members and actions')
    .action(async () => {
      const { listTenants } = await import('./tenants.ts');
      await listTenants(context());
    });
  tenant
    .command('export')
    .description('write everything that is stored of a tenant as one JSON object per line')
    .argument('<tenant>', 'its name')
    .requiredOption('--out <file>', 'a new file, gzip if it ends in .gz')
    .action(async (name: string, options: ExportTenantOptions) => {
      const { exportTenant } = await import('./tenants.ts');
      await exportTenant(context(), name, options);
    });
  tenant
    .command('erase')
    .description(
      'remove everything that is stored of a tenant; first see that nobody has a token of it any more',
    )
    .argument('<tenant>', 'its name')
    .option('--yes', 'really')
    .action(async (name: string, options: EraseTenantOptions) => {
      const { eraseTenant } = await import('./tenants.ts');
      await eraseTenant(context(), name, options);
    });
  tenant
    .command('adopt')
    .description('make all data of a database without tenants those of one; no server may run meanwhile')
    .argument('<tenant>', 'its name')
    .action(async (name: string) => {
      const { adoptTenant } = await import('./tenants.ts');
      await adoptTenant(context(), name);
    });
}
