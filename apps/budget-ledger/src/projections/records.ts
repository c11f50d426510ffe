import type { RowTable } from '@runyard/persistence';

// Rows as the projection of BUDGETS writes them; times are RFC 3339 text, dates YYYY-MM-DD.

export interface CapRecord {
  org_id: string;
  scope: string;
  tokens: number | null;
  changed_at: string;
  changed_by: string;
  position: string;
}

export interface WeekRecord {
  org_id: string;
  owner_id: string;
  week: string;
  starts_at: string;
  ends_at: string;
  time_zone: string;
  previous: string | null;
  next: string | null;
  state: 'open' | 'closed';
  settled: number;
  reserved: number;
  overruns: number;
  reached_80_at: string | null;
  reached_100_at: string | null;
  position: string;
}

export interface ReservationRecord {
  org_id: string;
  run_id: string;
  owner_id: string;
  week: string;
  tokens: number;
  cut: boolean;
  reserved_at: string;
}

export const DEFAULT_SCOPE = 'default';

export const CAPS: RowTable<CapRecord> = {
  name: 'spend_caps',
  key: ['org_id', 'scope'],
  columns: ['tokens', 'changed_at', 'changed_by', 'position'],
};

export const WEEKS: RowTable<WeekRecord> = {
  name: 'budget_weeks',
  key: ['org_id', 'owner_id', 'week'],
  columns: [
    'starts_at',
    'ends_at',
    'time_zone',
    'previous',
    'next',
    'state',
    'settled',
    'reserved',
    'overruns',
    'reached_80_at',
    'reached_100_at',
    'position',
  ],
};

export const RESERVATIONS: RowTable<ReservationRecord> = {
  name: 'reservations',
  key: ['org_id', 'owner_id', 'week', 'run_id'],
  columns: ['tokens', 'cut', 'reserved_at'],
};
