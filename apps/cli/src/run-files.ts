import { readFileSync, writeFileSync } from 'node:fs';
import { apiOf } from './api';
import type { Commands } from './command';
import { exportRun, readExport } from './run-file';
import { EventLines } from './run-views';
import { EXIT } from './terminal';

/** `runs export` and `runs import`: a run as a file (ADR on imported runs). */
export const fileCommands: Commands = (runs, line) => {
  const { terminal } = line;
  runs
    .command('export <run>')
    .description('Writes the events of a run, one JSON object a line, as the log has them.')
    .option('--output <file>', 'into a file instead of stdout')
    .action((runId: string, options: { output?: string }) =>
      line.run(async () => {
        const lines = await exportRun(apiOf(line.file()), runId);
        if (options.output) writeFileSync(options.output, `${lines.join('\n')}\n`, { mode: 0o600 });
        else for (const text of lines) terminal.out(text);
        terminal.say(`${lines.length} events of ${runId}`);
        return EXIT.ok;
      }),
    );
  runs
    .command('import <file>')
    .description(
      'Checks an exported run and shows it, without an installation and without writing anything: a run is what the log says, and the log takes no second one.',
    )
    .option('--json', 'the events again, once checked')
    .action((file: string, options: { json?: boolean }) =>
      line.run(async () => {
        const events = readExport(readFileSync(file === '-' ? 0 : file, 'utf8'));
        const shown = new EventLines();
        for (const event of events)
          for (const text of options.json ? [JSON.stringify(event)] : shown.of(event)) terminal.out(text);
        terminal.say(`${events.length} events of ${events[0]?.run_id ?? ''}, whole and in order`);
        return EXIT.ok;
      }),
    );
};
