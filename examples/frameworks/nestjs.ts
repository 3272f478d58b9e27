/** NestJS: of all instances one builds the report each night, and a busy order is a 409. */
import { Controller, Injectable, Module, Param, Post } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { currentLease, locked } from 'holdfast';
import { HoldfastModule, LockExceptionFilter, LockedCron, Locks } from 'holdfast/nestjs';
import { ship } from './ship.ts';

@Injectable()
export class Reports {
  constructor(private readonly locks: Locks) {}

  @Cron('0 3 * * *', { name: 'report', timeZone: 'UTC', waitForCompletion: true })
  @LockedCron((self: Reports) => self.locks, 'report', { minHold: '20s', maxHold: '6h' })
  async build(): Promise<void> {
    await ship('report', currentLease()?.signal);
  }
}

@Controller('orders')
export class Orders {
  constructor(private readonly locks: Locks) {}

  @Post(':id/ship')
  @locked(
    (self: Orders) => self.locks,
    (id: string) => `order:${id}`,
    { wait: '1s' },
  )
  async ship(@Param('id') id: string): Promise<string> {
    return ship(id, currentLease()?.signal);
  }
}

@Module({
  imports: [
    ScheduleModule.forRoot(),
    HoldfastModule.forRoot({ store: process.env.LOCKS ?? 'redis://localhost', isGlobal: true }),
  ],
  controllers: [Orders],
  providers: [Reports, { provide: APP_FILTER, useClass: LockExceptionFilter }],
})
export class AppModule {}
