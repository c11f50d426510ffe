import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Cabin = 'basic_economy' | 'economy' | 'business';

export interface PaymentMethod {
  source: 'credit_card' | 'gift_card' | 'certificate';
  id: string;
  amount?: number;
}
export interface User {
  payment_methods: Record<string, PaymentMethod>;
  reservations: string[];
}
export interface Passenger {
  first_name: string;
  last_name: string;
  dob: string;
}
export interface BookedFlight {
  flight_number: string;
  date: string;
  price: number;
  origin: string;
  destination: string;
}
export interface Payment {
  payment_id: string;
  amount: number;
}
export interface Reservation {
  reservation_id: string;
  user_id: string;
  cabin: Cabin;
  flights: BookedFlight[];
  passengers: Passenger[];
  payment_history: Payment[];
  total_baggages: number;
  nonfree_baggages: number;
  insurance: 'yes' | 'no';
  status?: 'cancelled';
}
export interface FlightDay {
  status: string;
  available_seats?: Record<Cabin, number>;
  prices?: Record<Cabin, number>;
}
export interface Flight {
  flight_number: string;
  origin: string;
  destination: string;
  scheduled_departure_time_est: string;
  scheduled_arrival_time_est: string;
  dates: Record<string, FlightDay>;
}

/** All that the airline knows. Calls change users and reservations; flights stay as they are. */
export interface World {
  users: Record<string, User>;
  reservations: Record<string, Reservation>;
  flights: Readonly<Record<string, Flight>>;
}

/** What the tools say to somebody who asked for something that cannot be. */
export class Unwilling extends Error {}

/** Everything as it was before anybody called. */
export type Library = Readonly<World>;

/** The three published files (sierra-research/tau-bench, MIT), read once for any number of worlds. */
export function readLibrary(folder: string): Library {
  const read = <T>(name: string): Record<string, T> => {
    const text = readFileSync(join(folder, 'tau-bench', `${name}.at-7362a17.json`), 'utf8');
    // Without a prototype, so that no id is found that is not in the file.
    return Object.assign(Object.create(null), JSON.parse(text)) as Record<string, T>;
  };
  return { users: read('users'), reservations: read('reservations'), flights: read('flights') };
}

/** A world of its own: what is looked at is copied, everything else is the library's. */
export const newWorld = ({ users, reservations, flights }: Library): World => ({
  users: Object.create(users) as World['users'],
  reservations: Object.create(reservations) as World['reservations'],
  flights,
});

/** A record as this world has it; copied from the library when it is first asked for. */
function own<T>(records: Record<string, T>, id: string): T | undefined {
  const found = records[id];
  if (found === undefined || Object.hasOwn(records, id)) return found;
  return (records[id] = structuredClone(found));
}

export function userOf(world: World, userId: string): User {
  const user = own(world.users, userId);
  if (!user) throw new Unwilling('user not found');
  return user;
}

export function reservationOf(world: World, reservationId: string): Reservation {
  const reservation = own(world.reservations, reservationId);
  if (!reservation) throw new Unwilling('reservation not found');
  return reservation;
}
